#!/usr/bin/env bats
# What ./check says of tests that fail beside others. Its build is made up here: a Makefile whose tests are written at once.

setup() {
	top=$(cd "${srcdir:-.}" && pwd -P)
	export ONEJOB_CHECK_DIR=$BATS_TEST_TMPDIR
	mkdir -p "$ONEJOB_CHECK_DIR"/gcc/tests/{store,e2e} "$ONEJOB_CHECK_DIR/log"
	cd "$ONEJOB_CHECK_DIR/gcc" || return
}

said() { # TEST PASS|FAIL...: as automake's driver writes it, a result each
	local n=0 result

	: >"$1.trs"
	: >"$1.log"
	for result in "${@:2}"; do
		n=$((n + 1))
		echo ":test-result: $result it_is_$n" >>"$1.trs"
		echo "$result: $1 $n - it_is_$n" >>"$1.log"
	done
}

@test "what failed beside others and passes alone is passed, and named at the end; what fails again is failed" {
	said tests/store/test_well PASS PASS
	said tests/store/test_shy PASS FAIL FAIL
	said tests/e2e/never FAIL
	printf 'check:\n\techo "$(TESTS)" >again\n\tmv tests/store/test_shy.new tests/store/test_shy.trs\n\tfalse\n' >Makefile
	sed 's/FAIL/PASS/' tests/store/test_shy.trs >tests/store/test_shy.new
	echo '2 1' >../log/tests-gcc.status
	run "$top/check" --step eval 'count_tests gcc -O0; show_recovered; echo "$passed passed, $failed failed"'
	echo "$output"
	[ "$(cat again)" = 'tests/e2e/never tests/store/test_shy' ]
	[ "${lines[-1]}" = '5 passed, 1 failed' ]
	[ "$(sed -n '/^Failed first/,/^[0-9]/p' <<<"$output" | sed '1d;$d')" = \
		$'  gcc: FAIL: tests/store/test_shy 2 - it_is_2\n  gcc: FAIL: tests/store/test_shy 3 - it_is_3' ]
}

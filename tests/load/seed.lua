-- Makes the pool that others send again, from its job LOAD_FROM on, and round again as long as there is time.
local load = dofile((debug.getinfo(1, "S").source:match("^@(.*/)") or "") .. "common.lua")

load.run({ 201, 200 }, function(n)
	local which = (load.from + n) % load.pool

	return load.create("pool-" .. which, load.body(which))
end)

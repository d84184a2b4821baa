-- What the wrk scripts share. Each of them is
--
--	wrk -t1 -c32 -d5s -s tests/load/NAME.lua "$ONEJOB_URL"
--
-- in a shell that has read DIR/env of a stack. At the end it prints
--
--	cell	REQUESTS	MICROSECONDS	P50_US	P99_US	STATUSES
--
-- and the status is 1 if an answer had another status than those that the script expects, or none came. From the environment:
--	LOAD_PROVIDER  what the jobs are for (default load; one that is disabled leaves them queued)
--	LOAD_POOL      how many jobs seed.lua makes, which replay.lua and conflict.lua send again (default 10000)
--	LOAD_FROM      where in it seed.lua begins (default 0)
--	LOAD_TAG       what begins the keys of those that make new jobs (default: the time)
--	LOAD_IDS       a file of job ids, one a line: for read.lua and unchanged.lua
--	LOAD_BYTES     the size of large.lua's input (default 1000000)

local load = {}

local function stop(message)
	io.stderr:write("tests/load: ", message, "\n")
	os.exit(2)
end

local function number_from(name, default)
	local text = os.getenv(name)
	local number = text and text ~= "" and tonumber(text) or default

	return number or stop(name .. " isn't a number")
end

local token = os.getenv("ONEJOB_TOKEN") or stop("ONEJOB_TOKEN isn't set; first read the env file of a stack")
local provider = os.getenv("LOAD_PROVIDER") or "load"
local words = string.rep("It was the best of times, it was the worst of times. ", 4)
local expected = {}
local head, request_of

load.pool = number_from("LOAD_POOL", 10000)
load.from = number_from("LOAD_FROM", 0)
load.bytes = number_from("LOAD_BYTES", 1000000)
load.tag = os.getenv("LOAD_TAG") or tostring(os.time())

-- A body of about 300 bytes, the same for the same number.
function load.body(number)
	return string.format('{"provider":"%s","input":{"model":"small","text":"%s","number":%d}}', provider, words, number)
end

-- A body whose input has so many bytes.
function load.large_body(bytes)
	local frame = '{"text":""}'

	return string.format('{"provider":"%s","input":{"text":"%s"}}', provider, string.rep("x", bytes - #frame))
end

function load.create(key, body)
	return table.concat({ "POST /v1/jobs HTTP/1.1\r\n", head, "Content-Type: application/json\r\nIdempotency-Key: \"", key,
		"\"\r\nContent-Length: ", #body, "\r\n\r\n", body })
end

function load.get(path, more)
	return table.concat({ "GET ", path, " HTTP/1.1\r\n", head, more or "", "\r\n" })
end

function load.ids()
	local name, list = os.getenv("LOAD_IDS"), {}
	local file = name and io.open(name) or stop("LOAD_IDS names no file with ids of jobs")

	for line in file:lines() do
		list[#list + 1] = line
	end
	file:close()
	return #list > 0 and list or stop(name .. " is empty")
end

-- run(STATUSES, MAKE): MAKE(n, thread) gives the n-th request of a thread; STATUSES are those that are right.
function load.run(statuses, make)
	for _, status in ipairs(statuses) do
		expected[status] = true
	end
	request_of = make
end

-- --- what wrk calls. A thread has a state of its own: globals are how the end sees what it counted.

local threads = {}

function setup(thread)
	threads[#threads + 1] = thread
	thread:set("number", #threads)
end

function init()
	sent, counts = 0, {}
	head = "Host: " .. wrk.host .. ":" .. (wrk.port or 80) .. "\r\nAuthorization: Bearer " .. token .. "\r\n"
	math.randomseed(os.time() + number)
end

function request()
	sent = sent + 1
	return request_of(sent, number)
end

function response(status)
	counts[status] = (counts[status] or 0) + 1
end

local function total_counts()
	local total, asked = {}, 0

	for _, thread in ipairs(threads) do
		asked = asked + thread:get("sent")
		for status, count in pairs(thread:get("counts")) do
			total[status] = (total[status] or 0) + count
		end
	end
	return total, asked
end

local function sorted(total)
	local list = {}

	for status in pairs(total) do
		list[#list + 1] = status
	end
	table.sort(list)
	return list
end

-- A line for people, if something was wrong.
local function flaw_of(total, asked, errors)
	local flaw = load.check and load.check(total, asked)

	for _, status in ipairs(sorted(total)) do
		if not expected[status] then
			flaw = total[status] .. " answers had the status " .. status
		end
	end
	if errors.connect + errors.read + errors.write + errors.timeout > 0 then
		flaw = string.format("connections failed: %d connect, %d read, %d write, %d timeout", errors.connect, errors.read,
			errors.write, errors.timeout)
	end
	return not next(total) and "no answer came" or flaw
end

function done(summary, latency)
	local total, asked = total_counts()
	local shown = {}

	for _, status in ipairs(sorted(total)) do
		shown[#shown + 1] = status .. "=" .. total[status]
	end
	io.write(string.format("cell\t%d\t%d\t%d\t%d\t%s\n", summary.requests, summary.duration, latency:percentile(50),
		latency:percentile(99), table.concat(shown, " ")))
	local flaw = flaw_of(total, asked, summary.errors)
	if flaw then
		io.stderr:write("tests/load: ", flaw, "\n")
		io.stdout:flush()
		os.exit(1)
	end
end

return load

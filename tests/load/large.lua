-- Every request makes a job with a large input.
local load = dofile((debug.getinfo(1, "S").source:match("^@(.*/)") or "") .. "common.lua")
local body = load.large_body(load.bytes)

load.run({ 201 }, function(n, thread)
	return load.create(load.tag .. "-" .. thread .. "-" .. n, body)
end)

-- Every request makes a job.
local load = dofile((debug.getinfo(1, "S").source:match("^@(.*/)") or "") .. "common.lua")

load.run({ 201 }, function(n, thread)
	return load.create(load.tag .. "-" .. thread .. "-" .. n, load.body(n))
end)

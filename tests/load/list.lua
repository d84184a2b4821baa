-- Lists the newest jobs, a page of the usual size.
local load = dofile((debug.getinfo(1, "S").source:match("^@(.*/)") or "") .. "common.lua")

load.run({ 200 }, function()
	return load.get("/v1/jobs")
end)

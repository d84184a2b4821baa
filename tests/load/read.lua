-- Reads jobs by their ids.
local load = dofile((debug.getinfo(1, "S").source:match("^@(.*/)") or "") .. "common.lua")
local ids = load.ids()

load.run({ 200 }, function()
	return load.get("/v1/jobs/" .. ids[math.random(#ids)])
end)

-- Every request has the key of one of the pool, and another intent.
local load = dofile((debug.getinfo(1, "S").source:match("^@(.*/)") or "") .. "common.lua")

load.run({ 409 }, function()
	local which = math.random(0, load.pool - 1)

	return load.create("pool-" .. which, load.body(which + load.pool))
end)

-- Every request repeats one of the pool.
local load = dofile((debug.getinfo(1, "S").source:match("^@(.*/)") or "") .. "common.lua")

load.run({ 200 }, function()
	local which = math.random(0, load.pool - 1)

	return load.create("pool-" .. which, load.body(which))
end)

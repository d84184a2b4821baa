-- Every click is a double click: two requests of one key, on whichever two connections are free.
local load = dofile((debug.getinfo(1, "S").source:match("^@(.*/)") or "") .. "common.lua")

load.run({ 201, 200 }, function(n, thread)
	local click = math.floor((n + 1) / 2)

	return load.create(load.tag .. "-" .. thread .. "-" .. click, load.body(click))
end)

function load.check(total, asked)
	local most = math.ceil(asked / 2)

	if (total[201] or 0) > most then
		return total[201] .. " jobs were made of " .. most .. " intents"
	end
end

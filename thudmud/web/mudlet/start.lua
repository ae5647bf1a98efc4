-- What Mudlet tells, and what it is told: the beginning and the end of all the rest.

local handlers, timer, alias = {}, nil, nil

local function on(event, handler)
  handlers[#handlers + 1] = registerAnonymousEventHandler(event, handler)
end

--- Ask for the facts; the server sends none that nobody has asked for.
local function greet()
  sendGMCP('Core.Supports.Add ["Thud 1"]')
end

local function hears()
  return getConfig and getConfig("advertiseScreenReader")
end

on("gmcp.Thud", function(_, key)
  local name = key:match("^gmcp%.Thud%.(%w+)$")
  if not name then return end
  -- A board of squares is no use to who hears the screen: the text has it in words.
  if thudmud.panel.is_open == nil and not hears() then thudmud.panel.open() end
  if thudmud.take(name, gmcp.Thud[name]) then thudmud.panel.draw() end
  if name == "Prompt" and gmcp.Thud.Prompt.asks == "command" and not thudmud.state().me.player then
    thudmud.ask("look") -- we have come late
  end
end)

on("sysProtocolEnabled", function(_, protocol)
  if protocol == "GMCP" then greet() end
end)

on("sysDisconnectionEvent", function()
  thudmud.forget()
  thudmud.panel.draw()
end)

-- Whatever else is typed, the server asks no longer.
on("sysDataSendRequest", function()
  if thudmud.panel.asked() then thudmud.panel.draw() end
end)

on("sysUserWindowResizeEvent", function()
  thudmud.panel.draw()
end)

on("sysUninstallPackage", function(_, name)
  if name == "thudmud" then thudmud.close() end
end)

--- End all that is going on, and take the window away.
function thudmud.close()
  for _, each in ipairs(handlers) do killAnonymousEventHandler(each) end
  killTimer(timer)
  killAlias(alias)
  handlers = {}
  thudmud.panel.close()
end

timer = tempTimer(0.5, function() thudmud.panel.tick() end, true)
alias = tempAlias("^thudmud (show|hide|flip)$", function()
  if matches[2] == "hide" then
    thudmud.panel.hide()
    return
  end
  if matches[2] == "flip" then thudmud.panel.flipped = not thudmud.panel.flipped end
  thudmud.panel.open()
end)

greet()

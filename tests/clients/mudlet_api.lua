-- As much of Mudlet's API as the package uses, told by Mudlet's manual and source: what is made,
-- set and registered is kept, and can be asked for. Whatever Mudlet would refuse is an error.
-- Each line of the input is Lua that is run; what it returns is written, then a line with a dot.

gmcp = {}
matches = {}
yajl = {null = newproxy()}
now = 1767225600 -- what Mudlet's clock says
reader = false -- whether "Advertise screen reader use" is ticked
labels, windows, handlers, timers, aliases, sent = {}, {}, {}, {}, {}, {}
size = {480, 720}

local function want(kind, value)
  if type(value) ~= kind then error(kind .. " expected, got " .. type(value), 3) end
  return value
end

local function label(name)
  return labels[want("string", name)] or error("no label " .. name, 3)
end

function openUserWindow(name, layout, docks)
  want("boolean", layout)
  want("boolean", docks)
  windows[want("string", name)] = {shown = true}
  return true
end

function setUserWindowTitle(name, title)
  windows[name].title = want("string", title)
end

function getUserWindowSize(name)
  if not windows[name] then error("no window " .. tostring(name)) end
  return size[1], size[2]
end

function createLabel(window, name, x, y, width, height, fills)
  if not windows[window] then error("no window " .. tostring(window)) end
  if labels[name] then error("label '" .. name .. "' already exists") end
  for _, each in ipairs({x, y, width, height, fills}) do want("number", each) end
  labels[name] = {shown = true, x = x, y = y, width = width, height = height}
end

function deleteLabel(name)
  label(name)
  labels[name] = nil
end

function moveWindow(name, x, y)
  label(name).x, label(name).y = want("number", x), want("number", y)
end

function resizeWindow(name, width, height)
  label(name).width, label(name).height = want("number", width), want("number", height)
end

function setLabelStyleSheet(name, css)
  label(name).css = want("string", css)
end

function setLabelToolTip(name, text)
  label(name).tip = want("string", text)
end

function echo(name, text)
  label(name).text = want("string", text)
end

function showWindow(name)
  (windows[name] or label(name)).shown = true
end

function hideWindow(name)
  (windows[name] or label(name)).shown = false
end

function setLabelClickCallback(name, func)
  label(name).click = want("function", func)
end

local function keep(list, value)
  list[#list + 1] = value
  return #list
end

function registerAnonymousEventHandler(event, func)
  return keep(handlers, {event = want("string", event), func = want("function", func)})
end

function killAnonymousEventHandler(id)
  handlers[want("number", id)] = false
end

function tempTimer(seconds, func, repeats)
  want("number", seconds)
  return keep(timers, repeats and want("function", func))
end

function killTimer(id)
  timers[want("number", id)] = false
end

function tempAlias(pattern, func)
  return keep(aliases, {pattern = want("string", pattern), func = want("function", func)})
end

function killAlias(id)
  aliases[want("number", id)] = false
end

function send(line)
  keep(sent, "line " .. want("string", line))
end

function sendGMCP(message)
  keep(sent, "gmcp " .. want("string", message))
end

function getEpoch()
  return now
end

function getConfig(key)
  return key == "advertiseScreenReader" and reader
end

-- What tests do with it.

function raise(event, ...)
  for _, each in ipairs(handlers) do
    if each and each.event == event then each.func(event, ...) end
  end
end

--- A GMCP message comes, as `Thud.Move` and a table.
function hear(package, data)
  local at, parts = gmcp, {}
  for part in package:gmatch("[^.]+") do parts[#parts + 1] = part end
  for depth = 1, #parts - 1 do
    at[parts[depth]] = at[parts[depth]] or {}
    at = at[parts[depth]]
  end
  at[parts[#parts]] = data
  local name = "gmcp"
  for _, part in ipairs(parts) do
    name = name .. "." .. part
    raise(name, "gmcp." .. package)
  end
end

function click(name)
  local clicked = label("thudmud_" .. name)
  if not clicked.shown then error(name .. " is not shown") end
  clicked.click({button = "LeftButton", x = 1, y = 1})
end

function pass(seconds)
  now = now + seconds
  for _, each in ipairs(timers) do
    if each then each() end
  end
end

--- A line is typed that an alias may catch; return whether one has.
function typed(line)
  for _, each in ipairs(aliases) do
    -- The one pattern there is, as Lua has it.
    local word = each and line:match("^thudmud (%a+)$")
    if word then
      matches = {line, word}
      each.func()
      return "true"
    end
  end
  return "false"
end

function count(list)
  local number = 0
  for _, each in pairs(list) do number = number + (each and 1 or 0) end
  return tostring(number)
end

--- Return what is shown: a line for each label, its name, its style and its text.
function shown()
  local lines = {}
  for name, each in pairs(labels) do
    if each.shown then
      lines[#lines + 1] = name:sub(9) .. "\t" .. each.css .. "\t" .. each.text
    end
  end
  return table.concat(lines, "\n")
end

--- Return where what is shown is: name, x, y, width, height.
function places()
  local lines = {}
  for name, each in pairs(labels) do
    if each.shown then
      lines[#lines + 1] = table.concat({name:sub(9), each.x, each.y, each.width, each.height}, "\t")
    end
  end
  return table.concat(lines, "\n")
end

--- Return what has been sent since this was asked last.
function outgoing()
  local lines = table.concat(sent, "\n")
  sent = {}
  return lines
end

setmetatable(_G, {__index = function(_, name)
  if name ~= "thudmud" then error("Mudlet has no " .. name, 2) end
end})

for line in io.lines() do
  local done, result = pcall(function() return assert(loadstring(line))() end)
  io.write(done and "" or "error: ", tostring(result or ""), "\n.\n")
  io.flush()
end

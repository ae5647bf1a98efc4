-- The panel: a window beside the text, with the board, the players and their clocks, what can be
-- done, and who would like to play. Whatever is clicked types a command.

local panel = {flipped = false}
thudmud.panel = panel

local WINDOW = "thudmud"
local SIZE = thudmud.SIZE
local STRIP, BUTTON, ROW = 26, 28, 24 -- heights
local COLUMNS, BUTTONS, ROWS, RESERVED = 4, 12, 6, 3
local PLURAL = {dwarf = "dwarfs", troll = "trolls"}
local LETTER = {dwarf = "d", troll = "T", stone = "X", rock = "R"}
local DISC = {dwarf = "#8c2f28", troll = "#3f566d", stone = "#3d3931", rock = "#1f6067"}
local SQUARES = {"#e9d3a7", "#dcc08b"}
local FROM, TO, SELECTED, CHOSEN = "#f3e59a", "#f7d94a", "#8fc79f", "#f0907c"
local GO, TAKE = "#1f6f43", "#c01f1f"
local TEXT = "color: #24211c; font-size: 13px; padding: 2px 6px;"
local OFFERS = {
  ["end"] = {"end", "to end the battle as it stands"},
  restart = {"start", "to start over with a new match"},
  rematch = {"start", "a rematch"},
  begin = {"start", "to begin the battle"},
  adjourn = {"adjourn", "to put the match away for later"},
  undo = {"undo", "to take back the last move"},
}
-- What the server asks before it does something, by the code, and what the button does that says yes.
local SURE = {
  sure_resigns = {"Resign", "Really resign the battle?"},
  sure_restarts = {"Start over", "Really start over?"},
  sure_leaves = {"Leave", "Really leave the match?"},
}
local ENDINGS = {
  agreement = "by agreement", quiet = "since nothing was captured for long",
  no_move = "as there is no move left", resignation = "by resignation",
  desertion = "since a seat is free", claim = "by a claim", rock_escaped = "as the Rock is home",
  rock_captured = "as the Rock is captured", time = "on time",
  length = "after as many moves as a battle can have",
}

-- Labels. Each is made when it is first shown; what has not changed is not set again, since
-- Qt takes a while over each style.

local labels = {}

local function set(name, at, css, text, tip)
  local full = WINDOW .. "_" .. name
  local old = labels[name]
  if not old then
    old = {}
    labels[name] = old
    createLabel(WINDOW, full, 0, 0, 1, 1, 1)
    setLabelClickCallback(full, function() panel.clicked(name) end)
  end
  if old.x ~= at.x or old.y ~= at.y then moveWindow(full, at.x, at.y) end
  if old.width ~= at.width or old.height ~= at.height then
    resizeWindow(full, at.width, at.height)
  end
  if old.css ~= css then setLabelStyleSheet(full, css) end
  if old.text ~= text then echo(full, text) end
  if old.tip ~= tip then setLabelToolTip(full, tip or "") end
  if old.hidden ~= false then showWindow(full) end
  labels[name] = {
    x = at.x, y = at.y, width = at.width, height = at.height,
    css = css, text = text, tip = tip, hidden = false,
  }
end

local function hide(name)
  if labels[name] and not labels[name].hidden then
    hideWindow(WINDOW .. "_" .. name)
    labels[name].hidden = true
  end
end

--- Return a text as a label shows it, which takes it for HTML.
local function escaped(text)
  return (text:gsub("&", "&amp;"):gsub("<", "&lt;"):gsub(">", "&gt;"))
end

local function capitalised(text)
  return text:sub(1, 1):upper() .. text:sub(2)
end

local function clock_text(seconds)
  local left = math.ceil(seconds)
  local days, hours = math.floor(left / 86400), math.floor(left % 86400 / 3600)
  if days > 0 then return string.format("%d d %d h", days, hours) end
  local minutes = string.format("%02d:%02d", math.floor(left % 3600 / 60), left % 60)
  return hours > 0 and hours .. ":" .. minutes or minutes
end

-- The board.

local function draw_square(square, board, base, marked, at)
  local piece = board.position[square]
  if board.last and square == board.last.from then base = FROM end
  if board.last and square == board.last.to then base = TO end
  if marked == "selected" then base = SELECTED elseif marked == "chosen" then base = CHOSEN end
  local disc, size = DISC[piece], 0.86
  if not disc and marked == "go" then disc, size = GO, 0.3 end
  local css = "background-color: " .. base .. ";"
  if disc then
    css = string.format(
      "background: qradialgradient(cx:0.5, cy:0.5, radius:0.5, fx:0.5, fy:0.5, stop:0 %s," ..
      " stop:%.2f %s, stop:%.2f %s, stop:1 %s);", disc, size, disc, size + 0.05, base, base)
  end
  local ringed = marked == "take" or marked == "prey" or marked == "chosen"
  css = css .. (ringed and " border: 3px solid " .. TAKE .. ";" or " border: 0px;") ..
    string.format(" color: #ffffff; font-weight: bold; font-size: %dpx;",
      math.floor(at.width * 0.55)) .. " qproperty-alignment: AlignCenter;"
  set(square, at, css, LETTER[piece] or "")
end

local function draw_board(board, top, unit)
  local marks = thudmud.mover.marks()
  local css = string.format("color: #857a67; background: transparent; font-size: %dpx;" ..
    " qproperty-alignment: AlignCenter;", math.max(8, math.floor(unit * 0.45)))
  for at = 1, SIZE do
    local seen = panel.flipped and SIZE + 1 - at or at
    set("column" .. at, {x = at * unit, y = top, width = unit, height = unit}, css,
      thudmud.LETTERS:sub(seen, seen))
    set("row" .. at, {x = 0, y = top + at * unit, width = unit, height = unit}, css,
      tostring(seen))
  end
  for row = 1, SIZE do
    for column = 1, SIZE do
      local x, y = column, row
      if panel.flipped then x, y = SIZE + 1 - column, SIZE + 1 - row end
      if board.rows[row]:sub(column, column) ~= " " then
        local square = thudmud.square(column, row)
        draw_square(square, board, SQUARES[(column + row) % 2 + 1], marks[square],
          {x = x * unit, y = top + y * unit, width = unit, height = unit})
      end
    end
  end
end

-- The players.

local function draw_player(name, side, at)
  local state = thudmud.state()
  local known, board = state.tables[name], state.boards[name]
  local who, away, kept
  for _, seat in ipairs(known and known.seats or {}) do
    if seat.side == side then who, away, kept = seat.player, seat.away_since, seat.kept_for end
  end
  local words = {"<b>" .. escaped(who or (kept and "empty seat" or "free seat")) .. "</b>", PLURAL[side]}
  if who and who == state.me.player then words[1] = words[1] .. " (you)" end
  if board then
    local left = 0
    for _, piece in pairs(board.position) do
      if piece == side then left = left + 1 end
    end
    words[#words + 1] = left .. " left"
  end
  if known and known.part then
    local points = known.points[side]
    if known.running and board and board.score then points = points + board.score[side] end
    words[#words + 1] = points .. (points == 1 and " point" or " points")
  end
  local seconds, runs = thudmud.left(name, side)
  if seconds then
    local text = clock_text(seconds)
    words[#words + 1] = runs and "<b>" .. text .. "</b>" or text
  end
  if away then words[#words + 1] = "away" end
  local moves = known and known.running and board and board.turn == side
  set(side, at, TEXT .. " background-color: " .. (moves and TO or "#fbf9f4") .. ";",
    (moves and "&#9654; " or "") .. table.concat(words, " &middot; "))
end

local function draw_players(name)
  for side, at in pairs(panel.players) do draw_player(name, side, at) end
end

-- What is said in one line.

local function result(ended)
  local how = ENDINGS[ended.outcome] and " " .. ENDINGS[ended.outcome] or ""
  if not ended.winner then return "a draw" .. how .. "." end
  local winner = ended[ended.winner] or PLURAL[ended.winner]
  local wins = winner == thudmud.state().me.player and "you win" or winner .. " wins"
  return wins .. how .. ": " .. ended.score.dwarf .. " to " .. ended.score.troll .. "."
end

local function status(name)
  local state, mover = thudmud.state(), thudmud.mover
  if panel.question then return panel.question.text end
  if not state.me.player then return "Give a name in the main window." end
  if not name then return "Click Play, or type." end
  if mover.landing and not mover.sent then
    return "To " .. mover.landing .. ": click what to capture, then " .. mover.landing .. "."
  end
  if mover.said then return mover.said end
  local known, board = state.tables[name], state.boards[name]
  local words = capitalised(name)
  if not known or not board then return words end
  words = words .. ", " .. known.rules .. (known.rated and ", rated: " or ": ")
  if board.ended then return words .. result(board.ended) end
  if not (known.running and board.turn) then return words .. "no battle is being played." end
  if thudmud.turn(name) then return words .. "your turn, " .. PLURAL[board.turn] .. "." end
  return words .. PLURAL[board.turn] .. " to move."
end

-- What can be done.

local function button(text, line, question)
  return {text = text, line = line, question = question}
end

--- Return what the player may want to do, as buttons.
function panel.buttons(name)
  local state, mover = thudmud.state(), thudmud.mover
  if panel.question then
    return {
      {text = panel.question.yes, line = panel.question.line},
      {text = "No", line = panel.question.no},
    }
  end
  local flip = {text = "Flip", act = function() panel.flipped = not panel.flipped end}
  if not state.me.player then return name and {flip} or {} end
  if mover.landing and not mover.sent then
    local what = #mover.chosen > 0 and "Capture " .. table.concat(mover.chosen, ", ") or
      "Capture nothing"
    local buttons = {{text = "Put back", act = mover.cancel}}
    if mover.fitting() then table.insert(buttons, 1, {text = what, act = mover.confirm}) end
    return buttons
  end
  if state.exercise then
    return {button("Next", "next"), button("Hint", "hint"), button("Leave", "stop"), flip}
  end
  if not name then return {button("Play", "play"), button("Seek", "seek")} end
  local known, on = state.tables[name], " on " .. name
  local buttons, mine = {}, thudmud.sides(name)
  if state.me.room then buttons[1] = button("Hall", "go to hall")
  else buttons[1] = button("Go to", "go to " .. name) end
  table.insert(buttons, flip)
  if not known then return buttons end
  local free, away = {}, known.claim_at ~= nil
  for _, seat in ipairs(known.seats) do
    if not seat.player then free[#free + 1] = seat.side end
    away = away or seat.away_since ~= nil
  end
  if #mine == 0 then
    if #free > 0 then table.insert(buttons, 1, button("Play", "play")) end
    for _, side in ipairs(free) do
      table.insert(buttons, button("Sit as " .. PLURAL[side], "join game as " .. side .. on))
    end
  elseif known.running then
    table.insert(buttons, 1, button("Hint", "hint" .. on))
    if #mine == 2 then
      table.insert(buttons, button("Undo", "undo" .. on))
      table.insert(buttons, button("End", "end game" .. on, "End the practice?"))
      return buttons
    end
    table.insert(buttons, button("Undo", "undo" .. on,
      "Take back your last move? Your opponent has to agree."))
    table.insert(buttons, button("Offer to end", "end game" .. on,
      "Offer to end the battle as it stands?"))
    table.insert(buttons, button("Adjourn", "adjourn" .. on,
      "Offer to put the match away for later?"))
    table.insert(buttons, button("Resign", "resign" .. on)) -- the server asks
    if away then
      table.insert(buttons, button("Claim", "claim" .. on,
        "Claim the battle, since your opponent is away, or does not move?"))
    end
  else
    if #free > 0 then
      table.insert(buttons, 1, button("Practise both sides", "practice" .. on))
    else
      table.insert(buttons, 1, button("Begin", "start game" .. on))
    end
    table.insert(buttons, button("Leave the seat", "leave game" .. on))
  end
  return buttons
end

--- Return what others ask, and who would like to play: what a click accepts, and what declines it.
function panel.rows(name)
  local state, rows = thudmud.state(), {}
  local me = state.me.player
  if not me then return rows end
  local known, mine = state.tables[name], thudmud.sides(name)
  for _, offer in ipairs(known and known.offers or {}) do
    local verb, words = unpack(OFFERS[offer.offer])
    if offer.side == mine[1] then
      rows[#rows + 1] = {text = "You offer " .. words .. ".", no = "no on " .. name}
    elseif #mine > 0 then
      rows[#rows + 1] = {text = capitalised(PLURAL[offer.side]) .. " offer " .. words .. ".",
        line = verb .. " on " .. name, no = "no on " .. name}
    end
  end
  for board, invite in pairs(state.invites) do
    if invite.to == me and invite.battle then
      rows[#rows + 1] = {
        text = invite.player .. " asks you to go on with battle " .. invite.battle .. " at the " ..
          board .. ".",
        line = "resume game " .. invite.battle .. " on " .. board, no = "no " .. invite.player,
      }
    elseif invite.to == me then
      rows[#rows + 1] = {
        text = invite.player .. " asks you to play the " .. PLURAL[invite.side] .. " at the " ..
          board .. ".",
        line = "join game as " .. invite.side .. " on " .. board, no = "no " .. invite.player,
      }
    end
  end
  local numbers = {}
  for number in pairs(state.seeks) do numbers[#numbers + 1] = number end
  table.sort(numbers)
  for _, number in ipairs(numbers) do
    local seek = state.seeks[number]
    local words = seek.rules .. (seek.time and ", " .. seek.time or "") ..
      (seek.side and ", as " .. PLURAL[seek.side] or "") .. (seek.rated and "" or ", casual")
    if seek.player == me then
      rows[#rows + 1] = {text = "You seek: " .. words, no = "withdraw " .. number}
    else
      rows[#rows + 1] = {
        text = seek.player .. (seek.to and " asks you: " or " seeks: ") .. words,
        line = "accept " .. number, no = seek.to and "no " .. number or nil,
      }
    end
  end
  return rows
end

local function draw_buttons(top, width)
  local each = math.floor(width / COLUMNS)
  for at = 1, BUTTONS do
    local known = panel.shown_buttons[at]
    if known then
      local column, row = (at - 1) % COLUMNS, math.floor((at - 1) / COLUMNS)
      set("button" .. at,
        {x = column * each + 1, y = top + row * BUTTON + 1, width = each - 2, height = BUTTON - 2},
        "QLabel{color: #ffffff; background-color: #6f4b2a; border-radius: 4px; font-size: 12px;" ..
        " qproperty-alignment: AlignCenter;} QLabel:hover{background-color: #8c3a1d;}",
        escaped(known.text), known.line)
    else
      hide("button" .. at)
    end
  end
end

local function draw_rows(top, width)
  for at = 1, ROWS do
    local known = panel.shown_rows[at]
    local y = top + (at - 1) * ROW
    if known then
      local text = escaped(known.text)
      if known.line then text = "<u>" .. text .. "</u>" end
      set("row_" .. at, {x = 0, y = y, width = width - 30, height = ROW},
        TEXT .. " background-color: #f1ede4;", text, known.line)
    else
      hide("row_" .. at)
    end
    if known and known.no then
      set("no_" .. at, {x = width - 30, y = y, width = 30, height = ROW},
        TEXT .. " background-color: #e0c7bd; qproperty-alignment: AlignCenter;", "no", known.no)
    else
      hide("no_" .. at)
    end
  end
end

local EMPTY = {rows = {}, position = {}}
for row = 1, SIZE do
  local out = math.max(0, 6 - row, row - 10)
  EMPTY.rows[row] = (" "):rep(out) .. ("."):rep(SIZE - 2 * out) .. (" "):rep(out)
end

--- Draw whatever has changed.
function panel.draw()
  if not panel.is_open then return end
  local state = thudmud.state()
  local name = thudmud.place()
  local board = name and state.boards[name]
  thudmud.mover.set(board, name and thudmud.turn(name))
  local width, height = getUserWindowSize(WINDOW)
  local rest = 3 * STRIP + 2 * BUTTON + RESERVED * ROW
  local unit = math.max(12, math.floor(math.min(width, height - rest) / (SIZE + 1)))
  local mine = name and thudmud.sides(name) or {}
  local below = #mine == 1 and mine[1] or "dwarf"
  local y = 0
  local function strip()
    y = y + STRIP
    return {x = 0, y = y - STRIP, width = width, height = STRIP}
  end
  local above = below == "dwarf" and "troll" or "dwarf"
  panel.players = {[above] = strip()}
  draw_board(board or EMPTY, y, unit)
  y = y + (SIZE + 1) * unit
  panel.players[below] = strip()
  draw_players(name)
  set("status", strip(), TEXT .. " background-color: #fbf9f4;", escaped(status(name)))
  panel.shown_buttons, panel.shown_rows = panel.buttons(name), panel.rows(name)
  draw_buttons(y, width)
  local lines = math.max(2, math.ceil(#panel.shown_buttons / COLUMNS))
  draw_rows(y + lines * BUTTON, width)
end

--- Let the clocks run.
function panel.tick()
  local name = thudmud.place()
  if panel.is_open and thudmud.left(name, "dwarf") then draw_players(name) end
end

--- Open the window, or show it again.
function panel.open()
  openUserWindow(WINDOW, true, true)
  setUserWindowTitle(WINDOW, "Thud")
  panel.is_open = true
  panel.draw()
end

--- Show it no more.
function panel.hide()
  if panel.is_open then hideWindow(WINDOW) end
  panel.is_open = false
end

--- Take it away with all that is in it.
function panel.close()
  for name in pairs(labels) do deleteLabel(WINDOW .. "_" .. name) end
  labels = {}
  panel.hide()
end

local function press(known)
  if not known then return end
  if known.question then
    panel.question = {text = known.question, line = known.line, yes = known.text}
    return
  end
  panel.question = nil
  if known.act then known.act() elseif known.line then thudmud.send(known.line) end
end

--- Take note of what the server asks, by the code of a refusal; return whether that has changed.
-- @param code nil if it asks nothing any more
function panel.asked(code)
  local before, sure = panel.question, SURE[code or ""]
  panel.question = sure and {text = sure[2], line = "yes", yes = sure[1], no = "no"} or nil
  return before ~= panel.question
end

--- Something was clicked: a square, a button, or a row.
function panel.clicked(name)
  local asks = thudmud.state().prompt.asks
  local kind, number = name:match("^(%a+)_?(%d+)$")
  number = tonumber(number)
  if kind == "button" then
    press(panel.shown_buttons[number])
  elseif asks and asks ~= "command" then
    return -- what is typed now is a name or a password
  elseif kind == "row" and name:find("_") then
    press(panel.shown_rows[number])
  elseif kind == "no" then
    press({line = panel.shown_rows[number] and panel.shown_rows[number].no})
  elseif kind and #kind == 1 then
    panel.question = nil
    thudmud.mover.pick(name)
  end
  panel.draw()
end

-- How a ply is put together by clicks: a piece, where it goes, and what it captures there.
-- The server is asked what the piece may do (Thud.Legal). What comes out is a command, as anybody
-- might have typed it.

local mover = {}
thudmud.mover = mover

local function reset()
  mover.selected = nil -- the square of the piece that is being moved
  mover.choices = nil -- what it can do; nothing until the server has said so
  mover.landing = nil -- where it will go
  mover.chosen = {} -- what it will capture there
  mover.sent = false -- whether it has been played, and the server has not answered yet
  mover.said = nil -- why nothing came of the last click
end

reset()

local function contains(list, value)
  for at, each in ipairs(list) do
    if each == value then return at end
  end
end

--- Take the board as it is now: whatever was begun at another, or before, is given up.
function mover.set(board, side)
  local version = board and board.version
  local name = board and board.board
  if name == mover.board and version == mover.version and side == mover.side then return end
  mover.board, mover.version, mover.side = name, version, side
  mover.position = board and board.position or {}
  reset()
end

--- Give up, and say why.
function mover.cancel(why)
  reset()
  mover.said = why
end

local function owns(square)
  local piece = mover.side and mover.position[square]
  return piece and (piece == mover.side or (piece == "rock" and mover.side == "dwarf"))
end

--- Return the ways to play the piece to a square.
function mover.ways(square)
  local ways = {}
  for _, way in ipairs(mover.choices or {}) do
    if contains(way.to, square) then ways[#ways + 1] = way end
  end
  return ways
end

--- Return what can be chosen to be captured now, and what is, by squares.
function mover.preys()
  local preys, chosen = {}, mover.chosen
  for _, square in ipairs(chosen) do preys[square] = true end
  for _, way in ipairs(mover.landing and mover.ways(mover.landing) or {}) do
    local fits = true
    for at, square in ipairs(chosen) do
      fits = fits and (way.trample and way.prey[at] == square or not way.trample and
        contains(way.prey, square) ~= nil)
    end
    if fits and way.trample then
      if way.prey[#chosen + 1] then preys[way.prey[#chosen + 1]] = true end
    elseif fits and #chosen < way.most then
      for _, square in ipairs(way.prey) do preys[square] = true end
    end
  end
  return preys
end

--- Return the way to play that captures what is chosen, if there is one.
function mover.fitting()
  for _, way in ipairs(mover.landing and mover.ways(mover.landing) or {}) do
    local chosen, fits = mover.chosen, true
    if way.trample then
      fits = #chosen == #way.prey
      for at, square in ipairs(chosen) do fits = fits and way.prey[at] == square end
    else
      fits = way.least <= #chosen and #chosen <= way.most
      for _, square in ipairs(chosen) do fits = fits and contains(way.prey, square) ~= nil end
    end
    if fits then return way end
  end
end

--- Return how squares are marked: "selected", "go", "take", "prey" or "chosen".
function mover.marks()
  local marks = {}
  if not mover.selected then return marks end
  if mover.landing and not mover.sent then
    for square in pairs(mover.preys()) do marks[square] = "prey" end
    for _, square in ipairs(mover.chosen) do marks[square] = "chosen" end
  elseif not mover.landing then
    for _, way in ipairs(mover.choices or {}) do
      for _, square in ipairs(way.to) do
        if marks[square] ~= "take" then marks[square] = #way.prey > 0 and "take" or "go" end
      end
    end
  end
  marks[mover.selected] = "selected"
  if mover.landing and not marks[mover.landing] then marks[mover.landing] = "selected" end
  return marks
end

--- Play it.
function mover.confirm()
  local way = mover.fitting()
  if not way or mover.sent then return end
  local line = way.verb .. " " .. mover.selected .. " to " .. mover.landing
  if #way.prey > 0 then
    local names = #mover.chosen > 0 and table.concat(mover.chosen, ", ") or "none"
    line = line .. " capturing " .. names
  end
  mover.sent = true
  thudmud.send(line .. " on " .. mover.board)
end

local function aim(square)
  local ways = mover.ways(square)
  mover.landing, mover.chosen = square, {}
  if #ways == 1 and ways[1].least == #ways[1].prey then
    mover.chosen = ways[1].prey
    mover.confirm()
    return
  end
  for _, way in ipairs(ways) do -- all that can be is chosen, to begin with
    if not way.trample and way.most == #way.prey and #mover.chosen == 0 then
      for at, each in ipairs(way.prey) do mover.chosen[at] = each end
    end
  end
end

local function choose(square)
  local chosen, at = mover.chosen, contains(mover.chosen, square)
  local tramples, only = false, true
  for _, way in ipairs(mover.ways(mover.landing)) do
    tramples = tramples or way.trample
    only = only and (way.most <= 1 or way.trample)
  end
  if not at then
    chosen[#chosen + 1] = square
  elseif tramples then
    while #chosen >= at do table.remove(chosen) end -- they have an order
  else
    table.remove(chosen, at)
  end
  if not (only and #chosen > 0 and mover.fitting()) then return end
  for prey in pairs(mover.preys()) do
    if not contains(chosen, prey) then return end
  end
  mover.confirm() -- nothing else could be chosen
end

--- A square was clicked: a piece, where it goes, or what it captures.
function mover.pick(square)
  if mover.sent then return end
  mover.said = nil
  if mover.landing and mover.preys()[square] then
    choose(square)
  elseif mover.landing and square == mover.landing and mover.fitting() then
    mover.confirm()
  elseif square == mover.selected then
    mover.cancel()
  elseif #mover.ways(square) > 0 then
    aim(square)
  elseif owns(square) then
    reset()
    mover.selected = square
    thudmud.ask("moves " .. square .. " on " .. mover.board)
  elseif mover.choices then
    mover.cancel("Not to " .. square .. ".")
  end
end

--- Take what the server says that a piece may do.
function mover.answered(legal)
  if legal.board ~= mover.board or legal.from ~= mover.selected or mover.choices then return end
  if legal.version ~= mover.version then return end -- what makes it right is on its way
  if #legal.ways == 0 then
    mover.cancel(legal.from .. " cannot move.")
  else
    mover.choices = legal.ways
  end
end

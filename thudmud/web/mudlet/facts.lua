-- What the panel knows: itself, the boards, the seeks. It is made of the facts that the server
-- sends (docs/gmcp-reference.md); nothing else changes it. It knows no rules: the server says what may be
-- played.

-- Whatever an older version has opened is closed before this one begins.
if thudmud and thudmud.close then thudmud.close() end
thudmud = {}

local PIECES = {d = "dwarf", T = "troll", X = "stone", R = "rock"}

thudmud.SIZE, thudmud.LETTERS = 15, "ABCDEFGHIJKLMNO"

--- Return the square in a column and a row, both from 1.
function thudmud.square(column, row)
  return thudmud.LETTERS:sub(column, column) .. row
end

--- Return a value without JSON's null, which is true in an "if".
local function plain(value)
  if type(value) == "userdata" then return nil end
  if type(value) ~= "table" then return value end
  local copy = {}
  for key, each in pairs(value) do copy[key] = plain(each) end
  return copy
end

local function none()
  return {
    me = {}, prompt = {}, tables = {}, boards = {}, seeks = {}, invites = {},
    exercise = nil,
    skew = 0, -- how many seconds our clock is ahead of the server's
  }
end

local state = none()

--- Return all that is known.
function thudmud.state()
  return state
end

--- Forget all, as before a connection.
function thudmud.forget()
  state = none()
end

--- Return the name of the board that is shown: where the player is, else where they have a seat.
function thudmud.place()
  if state.exercise then return state.exercise.board end
  if state.me.room then return state.me.room end
  for name in pairs(state.boards) do
    if #thudmud.sides(name) > 0 then return name end
  end
end

--- Return the sides that the player has at a board.
function thudmud.sides(name)
  local sides, known = {}, state.tables[name]
  for _, seat in ipairs(known and known.seats or {}) do
    if seat.player and seat.player == state.me.player then sides[#sides + 1] = seat.side end
  end
  return sides
end

--- Return the side that the player may move for now; nothing if they may not.
function thudmud.turn(name)
  local known, board = state.tables[name], state.boards[name]
  if not (known and known.running and board) then return nil end
  for _, side in ipairs(thudmud.sides(name)) do
    if side == board.turn then return side end
  end
end

--- Return the seconds that a side has left by now, and whether its time runs; nothing without a clock.
function thudmud.left(name, side)
  local known, board = state.tables[name], state.boards[name]
  local clock = known and known.clock
  if not clock then return nil end
  local turn = clock.runs or (board and board.turn)
  local since = clock.runs and clock.at or clock.stands_until
  local gone = 0
  if turn == side and since then gone = math.max(0, getEpoch() - state.skew - since) end
  return math.max(0, clock[side] - gone), clock.runs == side or gone > 0
end

-- What becomes of each fact. One that is out of date is false.

local take = {}

function take.Me(me)
  state.me = me
  if not me.room then state.tables, state.seeks = {}, {} end -- all that there are are told next
end

function take.Prompt(prompt)
  state.prompt = prompt
end

function take.Table(known)
  local before = state.tables[known.board]
  if before and before.version > known.version then return false end
  state.tables[known.board] = known
  local invite = state.invites[known.board]
  for _, seat in ipairs(known.seats) do
    if invite and seat.side == invite.side and seat.player then
      state.invites[known.board] = nil
    end
  end
end

function take.Board(board)
  local before = state.boards[board.board]
  if before and before.version > board.version then return false end
  board.position = {}
  for row, line in ipairs(board.rows) do
    for column = 1, thudmud.SIZE do
      board.position[thudmud.square(column, row)] = PIECES[line:sub(column, column)]
    end
  end
  if before and before.battle == board.battle and before.ply == board.ply then
    board.ended = before.ended
  end
  state.boards[board.board] = board
end

function take.Move(ply)
  local board, known = state.boards[ply.board], state.tables[ply.board]
  if not board or board.version > ply.version then return false end
  state.skew = getEpoch() - ply.at
  if known then known.clock = ply.clock or known.clock end
  local position = board.position
  if not ply.taken_back and ply.ply == board.ply + 1 then
    position[ply.from] = nil
    for _, square in ipairs(ply.captures) do position[square] = nil end
    position[ply.to] = ply.piece
    board.ply, board.last = ply.ply, ply
  elseif ply.taken_back and ply.ply == board.ply then
    position[ply.to] = nil
    for _, square in ipairs(ply.captures) do
      position[square] = ply.piece == "troll" and "dwarf" or "troll"
    end
    position[ply.from] = ply.piece
    board.ply, board.last = ply.ply - 1, nil -- a Thud.Board follows
  else
    thudmud.ask("look at " .. ply.board) -- something was missed
    return false
  end
  board.version, board.score, board.turn, board.ended = ply.version, ply.score, ply.turn, nil
end

function take.End(ended)
  local board = state.boards[ended.board]
  if board then board.turn, board.ended = nil, ended end
end

function take.Exercise(exercise)
  state.exercise = not exercise.left and exercise or nil
  if exercise.left then take.Closed(exercise) end
end

function take.Closed(closed)
  state.tables[closed.board], state.boards[closed.board] = nil, nil
end

function take.Renamed(renamed)
  for _, known in ipairs({state.tables, state.boards}) do
    local value = known[renamed.board]
    known[renamed.board] = nil
    if value then
      value.board = renamed.name
      known[renamed.name] = value
    end
  end
  if state.me.room == renamed.board then state.me.room = renamed.name end
end

function take.Seek(seek)
  state.seeks[seek.seek] = seek
end

function take.Settled(settled)
  state.seeks[settled.seek] = nil
end

function take.Invite(invite)
  state.invites[invite.board] = invite
end

function take.Declined(declined)
  if not declined.offer then state.invites[declined.board] = nil end
end

function take.Legal(legal)
  thudmud.mover.answered(legal)
end

function take.Refused(refused)
  thudmud.panel.asked(refused.code)
  if thudmud.mover.sent then thudmud.mover.cancel() end -- else something else was refused
end

--- Take a fact; return whether it has changed anything.
-- @param name such as "Move"
-- @param data as Mudlet has it in its table "gmcp"
function thudmud.take(name, data)
  return take[name] ~= nil and take[name](plain(data)) ~= false
end

--- Send a command, as if it were typed.
function thudmud.send(line)
  send(line)
end

--- Ask what a command tells, as a fact alone.
function thudmud.ask(line)
  sendGMCP('Thud.Ask "' .. line .. '"')
end

-- Requests for the lists of users drawn at random, for wrk:
--   RIVALRY_USERS=users.txt wrk -t1 -c8 -d5 --latency -s benches/serving/users.lua http://127.0.0.1:7878
-- users.txt has one user per line. With RIVALRY_ANSWERS, a file with one right answer per line, every answer is compared.
local users, right = {}, nil

function init()
  for line in io.lines(os.getenv("RIVALRY_USERS")) do users[#users + 1] = line end
  local answers = os.getenv("RIVALRY_ANSWERS")
  if answers then
    right = {}
    for line in io.lines(answers) do right[line] = true end
  end
  math.randomseed(1)
  good, wrong = 0, 0
end

function request()
  return wrk.format("GET", "/api/recommend/" .. users[math.random(#users)] .. "?n=20")
end

local threads = {}

function setup(thread)
  threads[#threads + 1] = thread
end

if os.getenv("RIVALRY_ANSWERS") then
  function response(status, _, body)
    if status == 200 and right[body] then good = good + 1 else wrong = wrong + 1 end
  end
end

function done(summary)
  local sum_good, sum_wrong, errors = 0, 0, summary.errors
  for _, thread in ipairs(threads) do
    sum_good, sum_wrong = sum_good + thread:get("good"), sum_wrong + thread:get("wrong")
  end
  print(string.format("compared: %d right, %d wrong; errors: %d connect, %d read, %d write, %d status, %d timeout",
    sum_good, sum_wrong, errors.connect, errors.read, errors.write, errors.status, errors.timeout))
end

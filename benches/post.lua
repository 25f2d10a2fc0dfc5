-- wrk -s post.lua URL -- BODIES: sends the lines of the file in turn, one per request.
local requests, count, place = {}, 0, 0

function init(arguments)
  for body in io.lines(arguments[1]) do
    count = count + 1
    requests[count] = wrk.format("POST", nil, { ["Content-Type"] = "application/json" }, body)
  end
end

function request()
  place = place % count + 1
  return requests[place]
end

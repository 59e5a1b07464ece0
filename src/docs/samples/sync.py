import json, os, time, urllib.error, urllib.parse, urllib.request

STATE = "sync-state.json"
FILES = {"vehicle": "vehicles.ndjson", "safetyEvent": "safety-events.ndjson"}
KINDS = ",".join(FILES)


def begin():
    """Finds out where the changes stand, before the lists are read: what changes meanwhile comes afterwards."""
    for file in FILES.values():
        if os.path.exists(file):
            os.remove(file)
    page = get("/changes", {"kinds": KINDS, "cursor": "now"})
    return {"resume": page["resume"], "lists": {}}


def copy_list(path, file, query):
    """Reads a list to its end; `lists` holds the cursor of its next page, or None once it has been read."""
    count = 0
    while state["lists"].get(path, "") is not None:
        cursor = state["lists"].get(path)
        page = get(path, {**query, "cursor": cursor} if cursor else query)
        append(file, page["data"])
        state["lists"][path] = page.get("next")
        save()  # after the items: a stop in between reads a page twice, and never skips one
        count += len(page["data"])
    print(f"{path}: {count} items")


def follow():
    count, more = 0, True
    while more:
        page = get("/changes", {"kinds": KINDS, "cursor": state["resume"]})
        for change in page["data"]:
            append(FILES[change["kind"]], [change["data"] or {"id": change["id"], "deleted": True}])
        state["resume"] = page["resume"]
        save()
        count += len(page["data"])
        more = "next" in page
    print(f"/changes: {count} items")


def get(path, query):
    query = urllib.parse.urlencode({"limit": os.environ.get("PAGE_SIZE", "500"), **query})
    headers = {
        "x-api-key": os.environ["TOKEN"],
        "Connection-Id": os.environ["CONNECTION_ID"],
        "User-Agent": "acme-fleet/1.0",
    }
    request = urllib.request.Request(f"{os.environ['BASE_URL']}{path}?{query}", headers=headers)
    tries = 0
    while True:
        tries += 1
        try:
            with urllib.request.urlopen(request) as reply:
                return json.load(reply)
        except urllib.error.HTTPError as failed:
            body = json.load(failed)
            if any(error["field"] == "cursor" for error in body.get("errors", [])) and os.path.exists(STATE):
                os.remove(STATE)  # the next run starts over
            if failed.code not in (429, 503) or tries == 10:
                raise SystemExit(f"{failed.code} {body['message']} (request {body['requestId']})")
            seconds = int(failed.headers.get("Retry-After", 1))
            print(f"{failed.code}: waiting {seconds} s", flush=True)
            time.sleep(seconds)


def append(file, items):
    with open(file, "a") as lines:
        lines.writelines(json.dumps(item) + "\n" for item in items)


def save():
    """Writes a new file, then renames it: a stop in the middle leaves the old state intact."""
    with open(STATE + ".new", "w") as new:
        json.dump(state, new)
    os.replace(STATE + ".new", STATE)


if os.path.exists(STATE):
    with open(STATE) as kept:
        state = json.load(kept)
else:
    state = begin()

copy_list("/vehicles", "vehicles.ndjson", {})
copy_list("/safety-events", "safety-events.ndjson", {"from": os.environ.get("SINCE", "2026-01-01"), "to": "2100-01-01"})
follow()

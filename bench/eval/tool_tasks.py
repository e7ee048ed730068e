"""120 requests for one of 30 tools: four of each tool, with the arguments that the words ask for.

A task shows four tools, the right one among them. A tool has a description, its parameters, and
sentences with places for arguments. All of it was written for this project.

SPDX-License-Identifier: Apache-2.0
"""

PER_TOOL, SHOWN = 4, 4
TOWNS = "Riga|Bergen|Lyon|Porto|Graz|Leeds|Krakow|Turku|Ghent|Basel".split("|")
NAMES = "Anna|Jonas|Mira|Tariq|Yuki|Carla|Pavel|Ingrid|Kwame|Leila".split("|")
ROOMS = "kitchen|bedroom|office|hall|garage|bathroom".split("|")
WORDS = "bread|lamp oil|green tea|printer paper|blue paint|garden gloves|rice|candles".split("|")
N, S, B = "integer", "string", "boolean"

# (name, description, {parameter: type, or list of words}, {parameter: values}, sentences)
TOOLS = [
    (
        "get_weather",
        "The weather of a city in the next days",
        {"city": S, "days": N},
        {"city": TOWNS, "days": range(1, 8)},
        [
            "How will the weather in {city} be in the next {days} days?",
            "I travel to {city}. Give me the forecast for {days} days.",
        ],
    ),
    (
        "set_timer",
        "Start a timer",
        {"minutes": N},
        {"minutes": range(2, 90)},
        ["Wake me in {minutes} minutes.", "The cake needs {minutes} minutes, start a timer."],
    ),
    (
        "send_message",
        "Send a text message to a person",
        {"to": S, "text": S},
        {"to": NAMES, "text": ["I am late", "Dinner is ready", "Call me back", "See you soon"]},
        ['Write "{text}" to {to}.', 'Send {to} the message "{text}".'],
    ),
    (
        "convert_money",
        "Convert an amount of money into another currency",
        {"amount": N, "from": ["EUR", "USD", "GBP"], "to": ["JPY", "CHF", "SEK"]},
        {"amount": range(5, 900, 5), "from": ["EUR", "USD", "GBP"], "to": ["JPY", "CHF", "SEK"]},
        ["How much is {amount} {from} in {to}?", "Change {amount} {from} into {to}, please."],
    ),
    (
        "book_table",
        "Book a table in a restaurant",
        {"restaurant": S, "people": N, "hour": N},
        {
            "restaurant": "Blue Door|Olive Tree|Old Mill|Lantern".split("|"),
            "people": range(2, 10),
            "hour": range(17, 22),
        },
        [
            "A table for {people} at the {restaurant} at {hour} o'clock.",
            "We are {people} people and want to eat at the {restaurant} at {hour}:00.",
        ],
    ),
    (
        "play_music",
        "Play music of a genre in a room",
        {"genre": ["jazz", "rock", "opera", "folk"], "room": ROOMS},
        {"genre": ["jazz", "rock", "opera", "folk"], "room": ROOMS},
        ["Play some {genre} in the {room}.", "I want to hear {genre} music in the {room}."],
    ),
    (
        "set_light",
        "Switch the light of a room on or off",
        {"room": ROOMS, "on": B},
        {"room": ROOMS, "on": [True, False]},
        [
            "Turn the light in the {room} {on|on|off}.",
            "{on|It is dark in the|Nobody is in the} {room}: switch the light {on|on|off}.",
        ],
    ),
    (
        "set_heating",
        "Set the temperature of a room",
        {"room": ROOMS, "degrees": N},
        {"room": ROOMS, "degrees": range(15, 26)},
        ["Heat the {room} to {degrees} degrees.", "Set the {room} to {degrees} degrees, please."],
    ),
    (
        "add_to_list",
        "Add an item to the shopping list",
        {"item": S, "count": N},
        {"item": WORDS, "count": range(1, 12)},
        [
            "Put {item} on the shopping list, {count} times.",
            "We need {count} of {item}: note that.",
        ],
    ),
    (
        "find_train",
        "Find trains between two cities",
        {"from": S, "to": S, "hour": N},
        {"from": TOWNS[:5], "to": TOWNS[5:], "hour": range(5, 23)},
        [
            "Which trains go from {from} to {to} after {hour} o'clock?",
            "I have to get to {to} from {from} by train, leaving at {hour}:00.",
        ],
    ),
    (
        "create_event",
        "Put an event into the calendar",
        {"title": S, "day": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"], "hour": N},
        {
            "title": "dentist|team lunch|piano lesson|car service".split("|"),
            "day": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"],
            "hour": range(8, 20),
        },
        ["Put {title} into my calendar on {day} at {hour}.", "On {day} at {hour} I have {title}."],
    ),
    (
        "delete_event",
        "Delete an event from the calendar",
        {"title": S},
        {"title": "dentist|team lunch|piano lesson|car service".split("|")},
        ["Delete {title} from my calendar.", "The {title} is off: remove the event."],
    ),
    (
        "search_books",
        "Search the library for books of an author",
        {"author": S, "limit": N},
        {"author": "Ruth Calder|Emil Zand|Nora Keane|Dilip Rao".split("|"), "limit": range(3, 20)},
        [
            "Show me up to {limit} books by {author}.",
            "Has the library books of {author}? {limit} at most.",
        ],
    ),
    (
        "translate",
        "Translate a text into a language",
        {"text": S, "language": ["French", "Polish", "Turkish", "Korean"]},
        {
            "text": ["good morning", "where is the station", "thank you", "the soup is cold"],
            "language": ["French", "Polish", "Turkish", "Korean"],
        },
        ['What is "{text}" in {language}?', 'Translate "{text}" into {language}.'],
    ),
    (
        "order_taxi",
        "Order a taxi to a street",
        {"street": S, "people": N},
        {
            "street": "Mill Lane|Station Road|Harbour Street|Oak Avenue".split("|"),
            "people": range(1, 7),
        },
        [
            "A taxi for {people} to {street}, please.",
            "We are {people} and wait in {street}: order a taxi.",
        ],
    ),
    (
        "track_parcel",
        "Where a parcel is, by its code",
        {"code": S},
        {"code": "PX881 LT507 RW093 HD775 GM118 YR902".split()},
        ["Where is my parcel {code}?", "Track {code} for me."],
    ),
    (
        "pay_bill",
        "Pay an amount of money to a person",
        {"to": S, "amount": N},
        {"to": NAMES, "amount": range(5, 400, 5)},
        ["Pay {to} {amount} euros.", "I owe {to} {amount} euros, transfer the money."],
    ),
    (
        "count_calories",
        "The calories of a food",
        {"food": S, "grams": N},
        {"food": "rice|cheese|apples|salmon|butter".split("|"), "grams": range(50, 500, 25)},
        [
            "How many calories have {grams} grams of {food}?",
            "I ate {grams} grams of {food}. Calories?",
        ],
    ),
    (
        "set_alarm",
        "Set an alarm at a time of day",
        {"hour": N, "minute": N},
        {"hour": range(5, 12), "minute": range(10, 59)},
        ["Set an alarm at {hour}:{minute}.", "I must get up at {hour}:{minute}: set the alarm."],
    ),
    (
        "open_window",
        "Open or close the window of a room",
        {"room": ROOMS, "open": B},
        {"room": ROOMS, "open": [True, False]},
        [
            "{open|Open|Close} the window in the {room}.",
            "The window in the {room} should be {open|open|closed}.",
        ],
    ),
    (
        "rent_bike",
        "Rent bikes at a station",
        {"station": S, "bikes": N, "hours": N},
        {
            "station": "North Gate|River Park|Market Square".split("|"),
            "bikes": range(1, 6),
            "hours": range(1, 9),
        },
        [
            "Rent {bikes} bikes at {station} for {hours} hours.",
            "We want {bikes} bikes from {station}, and need them {hours} hours.",
        ],
    ),
    (
        "stock_price",
        "The price of a share by its symbol",
        {"symbol": S},
        {"symbol": "FJO LUM BRK SLV KTE ATL".split()},
        ["What does a share of {symbol} cost?", "Give me the price of {symbol}."],
    ),
    (
        "write_note",
        "Write a note with a colour",
        {"text": S, "colour": ["red", "green", "yellow"]},
        {
            "text": ["water the plants", "buy stamps", "feed the cat", "renew the pass"],
            "colour": ["red", "green", "yellow"],
        },
        ['Make a {colour} note: "{text}".', 'Write "{text}" on a {colour} note.'],
    ),
    (
        "measure_distance",
        "The distance between two cities",
        {"from": S, "to": S, "unit": ["km", "miles"]},
        {"from": TOWNS[:5], "to": TOWNS[5:], "unit": ["km", "miles"]},
        [
            "How far is {to} from {from}, in {unit}?",
            "Distance from {from} to {to} in {unit}, please.",
        ],
    ),
    (
        "start_washing",
        "Start the washing machine",
        {"degrees": [30, 40, 60, 90], "eco": B},
        {"degrees": [30, 40, 60, 90], "eco": [True, False]},
        [
            "Wash at {degrees} degrees {eco|in eco mode|without eco mode}.",
            "Start the washing machine: {degrees} degrees, eco {eco|on|off}.",
        ],
    ),
    (
        "call_person",
        "Call a person by telephone",
        {"name": S, "video": B},
        {"name": NAMES, "video": [True, False]},
        [
            "{video|Video call|Call, without video,} {name}.",
            "Ring {name}, with video {video|on|off}.",
        ],
    ),
    (
        "water_garden",
        "Water a part of the garden",
        {"part": ["lawn", "roses", "beds"], "minutes": N},
        {"part": ["lawn", "roses", "beds"], "minutes": range(5, 45)},
        [
            "Water the {part} for {minutes} minutes.",
            "The {part} are dry: {minutes} minutes of water.",
        ],
    ),
    (
        "buy_ticket",
        "Buy tickets for a film",
        {"film": S, "tickets": N},
        {"film": "Low Tide|Nine Winters|Glass Orchard".split("|"), "tickets": range(1, 8)},
        ["Buy {tickets} tickets for {film}.", "{tickets} of us want to see {film}: get tickets."],
    ),
    (
        "scan_document",
        "Scan pages of a document",
        {"pages": N, "format": ["pdf", "png"]},
        {"pages": range(1, 40), "format": ["pdf", "png"]},
        ["Scan {pages} pages as {format}.", "I need {pages} pages scanned, format {format}."],
    ),
    (
        "check_stock",
        "How many of an item a shop has",
        {"item": S, "shop": S},
        {"item": WORDS, "shop": "Hill Store|Corner Shop|Depot Nine".split("|")},
        ["Does {shop} have {item}?", "How much {item} is there at {shop}?"],
    ),
]


def schema_of(parameters):
    members = {}
    for name, kind in parameters.items():
        if isinstance(kind, list):
            members[name] = {"enum": kind}
        elif kind == S:
            members[name] = {"type": S, "minLength": 1, "maxLength": 40}
        elif kind == N:
            members[name] = {"type": N, "minimum": 0, "maximum": 100000}
        else:
            members[name] = {"type": kind}
    return {
        "type": "object",
        "properties": members,
        "required": list(members),
        "additionalProperties": False,
    }


def tasks(random, filled):
    """(name, request, names of the tools that are shown, truth)"""
    for place, (name, _, parameters, values, sentences) in enumerate(TOOLS):
        for number in range(PER_TOOL):
            arguments = {key: random.choice(list(pool)) for key, pool in values.items()}
            others = [tool[0] for i, tool in enumerate(TOOLS) if i != place]
            shown = [name, *random.sample(others, SHOWN - 1)]
            random.shuffle(shown)
            truth = {"name": name, "arguments": {key: arguments[key] for key in parameters}}
            sentence = filled(sentences[number % len(sentences)], arguments)
            yield f"tool-{name}-{number}", sentence, shown, truth

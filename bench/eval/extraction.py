"""120 paragraphs with the facts that are in them: 12 subjects, 8 generated paragraphs each, and two
by hand.

A subject has a schema, facts to choose from, and paragraphs with places for facts. A paragraph says
more than the schema wants; a distractor is a number or name that is not the answer. All sentences
and facts were written for this project; the people and firms do not exist.

SPDX-License-Identifier: Apache-2.0
"""

GENERATED = 8  # paragraphs of a subject


def text(longest=60):
    return {"type": "string", "minLength": 1, "maxLength": longest}


def whole(least=0, most=10**6):
    return {"type": "integer", "minimum": least, "maximum": most}


YES_NO = {"type": "boolean"}
FIRST = (
    "Anna Petrov|Jonas Lindqvist|Mireille Dupont|Tariq Hassan|Yuki Tanabe|Carla Mendes|"
    "Pavel Novotny|"
    "Ingrid Solberg|Kwame Boateng|Leila Farsi|Oscar Brandt|Nora Keane|Mateus Rocha|Svetlana Orlova|"
    "Dilip Rao|Hanne Vos"
).split("|")
TOWNS = (
    "Riga|Bergen|Lyon|Porto|Graz|Leeds|Krakow|Turku|Ghent|Basel|Malmo|Split|Cork|Bilbao|"
    "Aarhus|Tartu"
).split("|")
DAYS = "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday".split("|")

# name: (what is wanted, schema's members, facts, paragraphs, paragraphs by hand with their truth).
# In a paragraph "{married|yes|no}" writes the first word where the fact is true, else the other.
SUBJECTS = {
    "person": (
        "the person",
        {"name": text(), "age": whole(0, 130), "city": text(), "married": YES_NO},
        {"name": FIRST, "age": range(19, 88), "city": TOWNS, "married": [True, False]},
        [
            "{name} is {age} years old and lives in {city}. {married|Married for ten "
            "years, with two "
            "children|Single, with an old dog for company}, and in the same flat since 2009.",
            "We met {name} on a rainy day in {city}, where the {age}-year-old has a workshop for "
            "clocks. There is {married|a husband or wife at home who runs the shop|no husband or "
            "wife: marriage never came up}.",
            "At {age}, {name} still cycles to work every morning. {married|The couple "
            "bought a house|"
            "Unmarried, our guest bought a small house} in {city} last spring, number 14 "
            "on its lane.",
        ],
        [
            (
                "My neighbour turned 61 on Sunday. Her name is Greta Olsen, she came to "
                "Tromso in 1987 "
                "and stayed. She never married, she says, because the sea was enough.",
                {"name": "Greta Olsen", "age": 61, "city": "Tromso", "married": False},
            ),
            (
                "Samuel Adeyemi teaches maths in Lagos. He is 38. His wife Ife is 36 and teaches "
                "physics at the school next door.",
                {"name": "Samuel Adeyemi", "age": 38, "city": "Lagos", "married": True},
            ),
        ],
    ),
    "invoice": (
        "the invoice",
        {"number": text(12), "customer": text(), "total": whole(), "paid": YES_NO},
        {
            "number": "A-1042 B-2210 C-0077 K-9313 R-5508 T-6120 M-3345 Z-8801".split(),
            "customer": "Nordwind Bakery|Hill and Sons|Blue Heron Hotel|Kaspar Tools|Vela Dental|"
            "Oak Street School|Marlin Cafe|Tessin Garden Centre".split("|"),
            "total": range(120, 4800, 35),
            "paid": [True, False],
        },
        [
            "Invoice {number} went to {customer} in March. The total is {total} euros for "
            "3 deliveries. "
            "{paid|The money arrived a week later|So far nothing has been paid}.",
            "{customer} {paid|has paid|has not yet paid} invoice {number}. It lists 12 "
            "hours of work and "
            "comes to {total} euros in all.",
            "Please note: for {customer} we wrote invoice {number} over {total} euros, due "
            "in 30 days. "
            "Status: {paid|paid|open, unpaid}.",
        ],
        [
            (
                "The invoice with number Q-7781 is for Petra's Print Shop. After a "
                "discount of 40 euros "
                "we asked for 610 euros. They settled it on the same day.",
                {"number": "Q-7781", "customer": "Petra's Print Shop", "total": 610, "paid": True},
            ),
            (
                "Reminder to Aldo Transport: invoice D-0456 of 1 April over 2250 euros is "
                "still not "
                "paid. This is the second reminder.",
                {"number": "D-0456", "customer": "Aldo Transport", "total": 2250, "paid": False},
            ),
        ],
    ),
    "event": (
        "the event",
        {"title": text(), "city": text(), "day": {"enum": DAYS}, "seats": whole()},
        {
            "title": "Night of Short Films|Harvest Choir|Robots for Children|Old Maps Walk|"
            "Winter Chess Open|Bread and Salt Fair|Poems by the Canal|Open Workshop Day".split("|"),
            "city": TOWNS,
            "day": DAYS,
            "seats": range(20, 900, 10),
        },
        [
            "The {title} takes place in {city} on {day} at 7 pm. There are {seats} seats, "
            "and tickets "
            "cost 9 euros.",
            "{city} invites you to the {title}. Doors open on {day} at 18:30. The hall has {seats} "
            "seats, 6 of them for wheelchairs.",
            "With {seats} seats the {title} is larger than last year. It comes to {city} "
            "this {day}; "
            "the one before took two days.",
        ],
        [
            (
                "Join us on Friday for the Festival of Kites! The beach of Rimini has room "
                "for all, but "
                "the grandstand has only 150 seats. Last year 90 kites flew.",
                {"title": "Festival of Kites", "city": "Rimini", "day": "Friday", "seats": 150},
            ),
            (
                "On Tuesday the town hall of Ulm shows the Evening of Small Operas. 240 seats, two "
                "singers, one piano.",
                {"title": "Evening of Small Operas", "city": "Ulm", "day": "Tuesday", "seats": 240},
            ),
        ],
    ),
    "recipe": (
        "the recipe",
        {"dish": text(), "minutes": whole(1, 600), "portions": whole(1, 40), "vegetarian": YES_NO},
        {
            "dish": "potato soup|lentil stew|apple pancakes|baked trout|tomato risotto|bean chili|"
            "lamb pie|mushroom noodles".split("|"),
            "minutes": range(15, 180, 5),
            "portions": range(2, 13),
            "vegetarian": [True, False],
        },
        [
            "Our {dish} takes {minutes} minutes and makes {portions} portions. It is {vegetarian|"
            "vegetarian|not vegetarian, as the stock is made of beef}. Serve with 2 slices "
            "of bread.",
            "For {portions} portions of {dish} you need {minutes} minutes. {vegetarian|"
            "There is no meat "
            "or fish in it: a vegetarian dish|This version has bacon in it, so vegetarians "
            "should skip "
            "it}.",
            "{dish}, as my aunt cooks it: heat the pot for 10 minutes, {minutes} minutes "
            "in all. The "
            "{portions} portions were gone at once. {vegetarian|Vegetarians loved it|With "
            "ham, so not "
            "vegetarian}.",
        ],
        [
            (
                "This pumpkin curry needs 50 minutes from start to table and gives 5 "
                "portions. No meat, "
                "no fish: vegetarian guests are happy.",
                {"dish": "pumpkin curry", "minutes": 50, "portions": 5, "vegetarian": True},
            ),
            (
                "Grandfather's goulash simmers long: plan 165 minutes. It makes 8 portions "
                "and is all "
                "about the beef, so it is not vegetarian.",
                {"dish": "goulash", "minutes": 165, "portions": 8, "vegetarian": False},
            ),
        ],
    ),
    "job": (
        "the job",
        {"title": text(), "company": text(), "hours": whole(1, 60), "remote": YES_NO},
        {
            "title": "lab assistant|night porter|data analyst|bus mechanic|translator|gardener|"
            "pastry chef|sound engineer".split("|"),
            "company": "Fjord Optics|Lumen Theatre|Brook Logistics|Silva Farms|Kite Software|"
            "Harbour Clinic|Atlas Bikes|Pine Hotel".split("|"),
            "hours": range(10, 41, 2),
            "remote": [True, False],
        },
        [
            "{company} is looking for a {title} for {hours} hours a week. You {remote|can "
            "work from "
            "home|work on site; remote work is not possible}. The pay is 19 euros an hour.",
            "Position: {title}. Employer: {company}. Weekly hours: {hours}. Remote: "
            "{remote|yes|no}. "
            "Holidays: 28 days.",
            "A {title} is wanted at {company}, founded in 1984. The post has {hours} hours "
            "a week and is "
            "{remote|fully remote|on site only}.",
        ],
        [
            (
                "Do you like old books? Paper Lane needs a bookbinder for 32 hours a week. "
                "The presses "
                "weigh a ton, so there is no remote work.",
                {"title": "bookbinder", "company": "Paper Lane", "hours": 32, "remote": False},
            ),
            (
                "Echo Radio hires a copy editor, 20 hours a week, from home. Send 3 samples.",
                {"title": "copy editor", "company": "Echo Radio", "hours": 20, "remote": True},
            ),
        ],
    ),
    "book": (
        "the book",
        {"title": text(), "author": text(), "year": whole(1400, 2100), "pages": whole(1, 5000)},
        {
            "title": "The Salt Road|A House of Bees|Nine Winters|The Cartographer's Son|Low Tide|"
            "Glass Orchard|The Last Ferry|Letters to a Lighthouse".split("|"),
            "author": FIRST,
            "year": range(1921, 2024, 3),
            "pages": range(96, 720, 13),
        },
        [
            '"{title}" by {author} came out in {year}. It has {pages} pages and 21 chapters.',
            'In {year} {author} published "{title}", a novel of {pages} pages. The film '
            "followed 4 years "
            "later.",
            'I read all {pages} pages of "{title}" in two days. {author} wrote it in a hut '
            "without power; "
            "it appeared in {year}.",
        ],
        [
            (
                'Few people know "The Quiet Engine". Its author, Ruth Calder, printed it '
                "herself in "
                "1958: 188 pages on yellow paper, 300 copies.",
                {"title": "The Quiet Engine", "author": "Ruth Calder", "year": 1958, "pages": 188},
            ),
            (
                'Emil Zand\'s "Harbour of Crows" (2011) is a thick book, 604 pages, and worth it.',
                {"title": "Harbour of Crows", "author": "Emil Zand", "year": 2011, "pages": 604},
            ),
        ],
    ),
    "flight": (
        "the flight",
        {"from": text(), "to": text(), "number": text(10), "minutes": whole(1, 1500)},
        {
            "from": TOWNS[:8],
            "to": TOWNS[8:],
            "number": "QX 204|LN 881|BT 015|VR 390|MO 672|KE 118|ZA 909|FP 456".split("|"),
            "minutes": range(45, 260, 5),
        },
        [
            "Flight {number} goes from {from} to {to} in {minutes} minutes. It leaves from "
            "gate 12.",
            "You fly from {from} to {to} with flight {number}. The flight time is "
            "{minutes} minutes; be "
            "there 90 minutes early.",
            "{number} is delayed. The aircraft will leave {from} at noon and land in {to} "
            "after {minutes} "
            "minutes in the air.",
        ],
        [
            (
                "The morning flight HX 33 from Oulu to Zagreb is full. With 195 minutes it is the "
                "longest that we have.",
                {"from": "Oulu", "to": "Zagreb", "number": "HX 33", "minutes": 195},
            ),
            (
                "To get to Palermo from Nantes take flight SD 710. It needs 140 minutes, "
                "and the bus "
                "into town 50 more.",
                {"from": "Nantes", "to": "Palermo", "number": "SD 710", "minutes": 140},
            ),
        ],
    ),
    "flat": (
        "the flat",
        {"city": text(), "rooms": whole(1, 20), "rent": whole(), "pets": YES_NO},
        {"city": TOWNS, "rooms": range(2, 7), "rent": range(380, 2100, 20), "pets": [True, False]},
        [
            "Bright flat in {city} with {rooms} rooms on floor 5. The rent is {rent} euros "
            "a month. Pets "
            "are {pets|welcome|not allowed}.",
            "{rooms} rooms, {rent} euros rent, in the middle of {city}. {pets|You may "
            "bring your cat or "
            "dog|No animals, please}. Free from 1 June.",
            "In {city} a flat became free: {rooms} rooms and a balcony of 8 square metres "
            "for {rent} "
            "euros a month. The landlord {pets|likes pets|does not accept pets}.",
        ],
        [
            (
                "My flat in Delft is too big for me now. It has 4 rooms and costs 1290 "
                "euros a month. "
                "The garden is shared with 3 families. Pets are fine.",
                {"city": "Delft", "rooms": 4, "rent": 1290, "pets": True},
            ),
            (
                "Student flat, 1 room, 410 euros a month, Jena. The house rules forbid pets.",
                {"city": "Jena", "rooms": 1, "rent": 410, "pets": False},
            ),
        ],
    ),
    "review": (
        "the review",
        {
            "product": text(),
            "stars": whole(1, 5),
            "mood": {"enum": ["positive", "negative"]},
            "price": whole(),
        },
        {
            "product": "travel kettle|desk lamp|rain jacket|steel pan|bike light|garden hose|"
            "pocket radio|wool blanket".split("|"),
            "stars": range(1, 6),
            "price": range(12, 150, 3),
        },
        [
            "I bought the {product} for {price} euros. {mood}, so {stars} stars.",
            "{stars} stars for this {product}. {mood}. The price was {price} euros, the "
            "parcel took 4 "
            "days.",
            "{mood}. That is my verdict on the {product}, for which I paid {price} euros: "
            "{stars} stars "
            "out of 5.",
        ],
        [
            (
                "Broken on the second day. The hair dryer cost 35 euros and gets 1 star "
                "from me. Never "
                "again.",
                {"product": "hair dryer", "stars": 1, "mood": "negative", "price": 35},
            ),
            (
                "What a wonderful tea pot! 48 euros well spent, 5 stars. My 2 sisters want "
                "one too.",
                {"product": "tea pot", "stars": 5, "mood": "positive", "price": 48},
            ),
        ],
    ),
    "parcel": (
        "the parcel",
        {"code": text(12), "receiver": text(), "grams": whole(1), "delivered": YES_NO},
        {
            "code": "PX881 PX342 LT507 LT664 RW093 RW210 HD775 HD419".split(),
            "receiver": FIRST,
            "grams": range(150, 9000, 50),
            "delivered": [True, False],
        },
        [
            "Parcel {code} for {receiver} weighs {grams} grams. It {delivered|was delivered this "
            "morning|is still on its way}.",
            "The parcel of {receiver} has the code {code} and {grams} grams. Status: {delivered|"
            "delivered, signed at 10:40|in the depot, not delivered}.",
            "{receiver} {delivered|has got|is waiting for} a parcel with code {code}. The "
            "scale showed "
            "{grams} grams, the form allowed 10000.",
        ],
        [
            (
                "Code GM118: a parcel of 2350 grams for Ada Finch. Nobody opened the door, "
                "so it was "
                "not delivered. We try again at 9.",
                {"code": "GM118", "receiver": "Ada Finch", "grams": 2350, "delivered": False},
            ),
            (
                "Ben Okafor signed for parcel YR902 (480 grams). It is delivered.",
                {"code": "YR902", "receiver": "Ben Okafor", "grams": 480, "delivered": True},
            ),
        ],
    ),
    "meeting": (
        "the meeting",
        {"topic": text(), "leader": text(), "room": text(20), "people": whole(1, 1000)},
        {
            "topic": "new bus lines|school budget|river cleaning|website relaunch|roof repairs|"
            "summer party|night shifts|energy costs".split("|"),
            "leader": FIRST,
            "room": "B12 A3 C40 D7 E21 F5 G18 H2".split(),
            "people": range(3, 60),
        },
        [
            "The meeting about {topic} is in room {room}. {leader} leads it, and {people} "
            "people come. "
            "It lasts 45 minutes.",
            "{people} people met in room {room} to talk about {topic}. {leader} led the "
            "meeting; 2 votes "
            "were taken.",
            "Reminder from {leader}, who leads the meeting: topic {topic}, room {room}, "
            "{people} people "
            "have said yes.",
        ],
        [
            (
                "Rosa Lindt will lead our meeting on the new library in room K9. We expect "
                "17 people "
                "and need 3 tables.",
                {"topic": "new library", "leader": "Rosa Lindt", "room": "K9", "people": 17},
            ),
            (
                "Topic of the meeting: parking rules. 26 people, room M30, led by Ivo Marek.",
                {"topic": "parking rules", "leader": "Ivo Marek", "room": "M30", "people": 26},
            ),
        ],
    ),
    "weather": (
        "the weather",
        {
            "city": text(),
            "degrees": whole(-60, 60),
            "sky": {"enum": ["sunny", "cloudy", "rainy", "snowy"]},
            "wind": whole(0, 300),
        },
        {
            "city": TOWNS,
            "degrees": range(-12, 36),
            "sky": ["sunny", "cloudy", "rainy", "snowy"],
            "wind": range(5, 95, 5),
        },
        [
            "{city} today: {sky}, {degrees} degrees, wind at {wind} kilometres an hour. "
            "Yesterday it was "
            "3 degrees warmer.",
            "The morning in {city} is {sky}. We measure {degrees} degrees, and the wind blows with "
            "{wind} kilometres an hour.",
            "With {degrees} degrees and a {sky} sky, {city} has an ordinary day. Wind: "
            "{wind} kilometres "
            "an hour. Chance of storms: 20 percent.",
        ],
        [
            (
                "It is snowy in Kiruna again, minus 18 degrees to be exact (-18). The wind "
                "has only 10 "
                "kilometres an hour.",
                {"city": "Kiruna", "degrees": -18, "sky": "snowy", "wind": 10},
            ),
            (
                "A sunny day in Seville with 34 degrees. The wind of 15 kilometres an hour "
                "helps little.",
                {"city": "Seville", "degrees": 34, "sky": "sunny", "wind": 15},
            ),
        ],
    ),
}
MOODS = {
    "positive": ["It works very well and I love it", "Great quality, I am happy with it"],
    "negative": ["It broke at once and I am angry", "Poor quality, I am disappointed"],
}


def filled(paragraph, facts):
    """A paragraph with its facts."""
    out = ""
    while "{" in paragraph:
        before, _, rest = paragraph.partition("{")
        place, _, paragraph = rest.partition("}")
        name, *ways = place.split("|")
        value = facts[name]
        out += before + str((ways[0] if value else ways[1]) if ways else value)
    return out + paragraph


def facts_of(pools, random):
    facts = {name: random.choice(list(pool)) for name, pool in pools.items()}
    if "stars" in facts:  # a review's words fit its stars
        facts["mood"] = "positive" if facts["stars"] > 2 else "negative"
    return facts


def tasks(random):
    """(name, paragraph, what is wanted, members, truth) of every task."""
    for subject, (wanted, members, pools, paragraphs, by_hand) in SUBJECTS.items():
        for number in range(GENERATED):
            facts = facts_of(pools, random)
            shown = dict(facts)
            if "mood" in facts:
                shown["mood"] = random.choice(MOODS[facts["mood"]])
            truth = {name: facts[name] for name in members}
            yield (
                f"extract-{subject}-{number}",
                filled(paragraphs[number % len(paragraphs)], shown),
                wanted,
                members,
                truth,
            )
        for number, (paragraph, truth) in enumerate(by_hand):
            yield (
                f"extract-{subject}-hand-{number}",
                paragraph,
                wanted,
                members,
                {k: truth[k] for k in members},
            )

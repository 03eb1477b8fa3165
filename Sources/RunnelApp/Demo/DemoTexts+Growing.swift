extension DemoTexts {
  /// Conversations about what grows, what eats it, and the weather.
  // tidy:table
  static let growing = [
    """
    A: Slugs. Again. {n} of the young {veg} down to the stalk overnight 😩
    B: Beer traps. It's the only thing that works for me.
    C: I go out with a torch at ten. Got {many} last night, I'm not proud.
    A: What do you do with them?
    C: A long walk to the railway bank.
    D: They walk back, you know. Somebody marked them with nail varnish once and measured it.
    B: [How fast?|And did they?|That is the most {D} thing I have ever read.]
    D: Anything under twenty metres is a commute.
    A: Ordering nematodes. Who shares a pack with me? It does a hundred square metres.
    B: Count me in.
    """,
    """
    A: Can someone look at my {veg}? Yellow between the veins, green along them. [Picture in a \
    minute.|Started on {yesterday}.]
    B: Old leaves or new ones?
    A: The lower ones, so old.
    B: Magnesium then. Epsom salts, a spoon to a litre, spray it in the evening.
    C: Or you watered out all the potash. Did you feed them?
    A: Erm. Since when do they need feeding?
    C: 😄 since always. Come by plot {plotC}, I'll give you a bottle of comfrey tea. Hold your nose.
    A: [It stinks but it worked, I owe you.|You're a treasure, coming at {soon}.]
    """,
    """
    A: First ripe tomato of the year!! Ate it standing up, still warm. Nothing in a shop comes near.
    B: Already?! Mine are hard as marbles.
    A: South wall and a lot of luck. Variety from {C}'s seed, [third|fourth] year.
    C: Makes me very happy to read that. Keep me a few seeds?
    A: Already drying on kitchen paper.
    """,
    """
    A: Is it blight? Brown patches on the potato leaves, a bit of white fluff underneath.
    B: Where's your plot again?
    A: {plotA}, by the brook.
    B: Then yes, likely. It was warm and wet for two nights.
    C: Cut the tops off today, all of them, and don't compost them. Leave the tubers two weeks in \
    the ground so the skin sets and the spores on the surface die, then lift them on a dry day. \
    We saved most of ours like that the year before last, and {B} who waited for the weekend lost \
    nearly everything.
    B: True and still painful.
    A: Doing it now. Thank you. 😞
    O: Please everyone look at your potatoes and tomatoes tonight. It spreads by air.
    """,
    """
    A: {heat} Anyone else's {veg} looking sorry?
    B: Mine have given up standing.
    C: Water them in the evening, properly, once. A little every day only teaches the roots to be \
    lazy.
    A: How much is properly?
    C: A full can per plant, slowly. Then mulch.
    B: Mulch with what?
    C: Grass, straw, cardboard, old love letters.
    """,
    """
    A: Frost warning for {day} night? My app says two degrees, {B}'s probably says thirty.
    B: Mine says one, down by the canal.
    C: So fleece over the {veg} to be safe.
    A: I have a spare roll if anybody needs a length. Hanging over the rail {place}.
    D: Took two metres, thank you. My {veg2} thank you too.
    """,
    """
    A: Pigeons have had all of my {leafy}. I put a net over it and they just walked in from below.
    B: You have to weigh the edges down. Bricks, pipes, old dictionary.
    A: I now own a net and a pigeon.
    B: [In it?!|Is it all right?|Name?]
    A: I let it out. It looked at me as if *I* was trespassing.
    C: To be fair they've been on the waiting list longer than most of us.
    """,
    """
    A: What do people sow now for winter? First year here and I have {n} metres empty where the \
    {veg} were.
    B: Spinach, winter lettuce, spring onions. And broad beans later on.
    C: Green manure! Phacelia or rye. Feeds the soil, keeps the weeds down, and the bees go mad \
    for phacelia.
    A: Where do you buy it?
    C: Don't. I've a jar. Come to {plotC} any evening.
    A: This place 🥹
    """,
    """
    A: Confession: I planted {n} courgette plants.
    B: For how many people?
    A: Two.
    C: 😂😂
    D: There should be a [hotline|support group|law].
    A: One of them doesn't like courgettes.
    B: Leave them on doorsteps after dark like the rest of us.
    """,
    """
    A: My compost isn't doing anything. It just sits there. Any ideas?
    B: Too dry? Take a handful and squeeze, it should feel like a wrung-out sponge.
    A: More like a box of cornflakes.
    B: There you are. Two cans of water, something green, turn it.
    C: And add a few spades from a heap that works. Mine is steaming, take as much as you like.
    A: Done. [Will report in a week.|I'm now emotionally invested in a heap.]
    C: Three weeks and it'll be at sixty degrees. I once baked a potato in ours. It tasted of \
    compost but it was cooked through.
    """,
    """
    A: How do you all tie up your {climber}? Mine have reached the top of the canes and are \
    waving for help.
    B: Pinch out the tip, then they bush.
    C: No!! Loop it back down and let it climb again.
    B: {C} and I have had this argument since [2019|the old hut stood|before {A} had a plot].
    C: And who won the cup?
    B: The cup was for onions.
    A: I'll do one row of each and tell you in autumn.
    """,
    """
    A: Weighed in: {n} kilos and 400 of {veg} from one bed today. My arms!
    B: Wow. What did you give them?
    A: Two barrows of {C}'s compost in spring and then hardly anything. Water when it was dry.
    C: 🥲 proudest day of my heap
    D: Picture or it didn't happen.
    A: It's leaning against the shed, too heavy to hold up for a photo.
    """,
    """
    A: Does anybody know this plant? Square stem, purple flowers, smells a bit of mint, coming up \
    everywhere between the {veg}.
    B: Leaves opposite each other, a bit hairy?
    A: Yes.
    B: Then some dead-nettle or woundwort. Harmless. Bumblebees adore it.
    C: Leave a patch in the corner, it's the best thing for early queens.
    A: A patch it gets. It didn't look like it was asking anyway.
    """,
    """
    A: Do {veg} and {veg2} get on with each other? Planning the beds.
    B: Books say no. Mine did fine side by side.
    C: It's more about light than love. Tall ones to the north.
    D: I plant {flower} between everything and let them sort it out.
    A: [That's my kind of plan.|And does it work?|Your plot is always the prettiest, {D}.]
    D: Mostly the snails are confused, and I like that.
    """,
    """
    A: {rain} [Rain gauge|The gauge by my shed] says {many} millimetres since {yesterday}.
    B: Ponds on my paths. I've seen a duck consider them.
    C: The brook is up to the second step.
    O: Please keep the grate by plot {plot} clear of leaves if you pass, it all drains through \
    there.
    B: Cleared it just now, a football was in it.
    O: Bless you {B}. And whose is the football?
    A: [Mine. I mean my daughter's.|Finders keepers?|It's been there since the last flood, it \
    belongs to the brook now.]
    """,
  ]
}

extension DemoTexts {
  /// Conversations about the gate, the shed, the bees and everything that is everybody's.
  // tidy:table
  static let site = [
    """
    A: The bottom gate doesn't close again, the latch is hanging by one screw.
    O: Noted. Is it shut for now?
    A: Tied it with a bit of baler twine.
    B: I've got the right screws at home, M6. Can fix it on {day}.
    O: You're a hero {B}. Keep the receipt.
    B: There's no receipt, they've been in a jam jar since [1998|my last bicycle|before the \
    children].
    A: Everybody please tie it until then. The fox family has noticed.
    """,
    """
    A: Who has the shed key? I'm standing in front of it.
    B: {C} had it on {yesterday}.
    C: I hung it back on the hook, I'm sure of it.
    A: The hook is empty.
    C: ... It's in my coat. I'm so sorry. I can be there in {n2} minutes.
    A: No rush, it's a nice evening, I'm talking to {D}'s chickens.
    O: This is why we'll have a key box with a code by the end of the month.
    B: We said so last month 😇
    """,
    """
    A: Bees! A swarm hanging in the {tree} tree by the lower path, as big as a football.
    B: Please keep a few metres away, they're gentle when they swarm but don't poke them.
    A: I'm not poking anything.
    O: {greeting}, I've rung {C}. They're coming with a box and a sheet.
    C: On my way, {n2} minutes. Can somebody find me a white sheet and a bucket of water?
    D: Got both.
    C: In the box! The queen went in first and the others are marching after her like a \
    procession. Leave it where it is until dusk please, then they're all home and I carry them to \
    the new hive beside the orchard. If all goes well everyone gets a jar next summer.
    A: That was the most wonderful thing I've seen in years.
    """,
    """
    A: Honey count: {many} jars this time, and we left them enough for winter.
    B: Amazing. When can we taste?
    A: {day} in the hut from {time}. One jar per plot, the rest goes to the new roof.
    C: Does it taste of anything special?
    A: Lime blossom at first and then something like mint. I think they found the railway bank.
    B: I'll bring bread.
    D: I'll bring butter. And a spoon, for my personal jar.
    """,
    """
    A: Reminder from me as the newest person here: what are the bonfire rules?
    O: Only from October to March, after four, and never with the wind towards the houses.
    A: Thanks. And barbecues?
    O: Always, on the slabs, with a bucket of water next to it.
    B: And with an invitation to the neighbours on both sides. That one's not written down but \
    it's the most important.
    """,
    """
    A: Someone's been in the sheds again last night. Plot {plot} and the one beside it, locks cut.
    B: Oh no. Anything gone?
    A: A strimmer and, I'm not joking, a bag of {veg}.
    O: I've reported it, we have a number. Please check yours and send me a list by {day}.
    C: Mine's fine. I leave it open with nothing in it but a rake and a calendar from [2011|2014].
    D: That is the best lock there is.
    O: The police say the same, by the way: don't leave anything with a motor here overnight.
    """,
    """
    A: The mower won't start. I've pulled that cord {many} times, my arm is longer than the other \
    now.
    B: Is the choke out?
    A: Yes.
    B: Fuel tap?
    A: ... There's a fuel tap?
    B: Left side, little red lever 🙂
    A: It's running. We shall never speak of this.
    """,
    """
    A: Could we do something about plot {plot}? Waist-high since spring and it's seeding into \
    everyone's.
    O: They've been ill, I rang on {yesterday}. They'd like to keep it but can't manage right now.
    A: I didn't know. I'm sorry.
    B: Then let's cut it for them. Ten of us, one hour?
    C: I'm in.
    D: Me too, I'll bring the scythe.
    A: {day}, {time}, and cake afterwards. And nobody tells them beforehand.
    O: This is the nicest message I've had all week. ❤️
    """,
    """
    A: What's the plan for the {day} work party?
    O: Paths first, then the hedge along the lane, then the roof of the hut if it's dry.
    A: Who has a strimmer?
    B: I'll bring mine, and fuel.
    C: I can't lift anything with my back but I make a very good lentil soup.
    O: Soup is infrastructure, {C}. From {time}, gloves and something to drink please.
    D: May I bring the children? They're nine and eleven and destroy things for fun.
    O: We've an old pallet with their names on it.
    """,
    """
    A: How long is the waiting list these days? A colleague asked.
    O: {many} names, so [three|four|about five] years. Half plots go faster.
    A: Ouch. She'd take a half plot.
    O: Form is on the notice board, or I can send it to her.
    B: I waited six years. I'd have waited ten.
    """,
    """
    A: The notice board glass is cracked, water's got in and the rules have turned into a \
    watercolour.
    B: I quite like it.
    O: I can print new ones. Does somebody have a sheet of perspex, 60 by 80?
    C: My brother does shopfitting, I'll ask.
    C: He has one, scratched on one side, costs us a bag of {veg}.
    O: Sold!
    """,
    """
    A: Fox cubs! Three of them behind the compost bays, just at sunrise. One was carrying a \
    gardening glove.
    B: Left hand, green?
    A: I think so.
    B: So THAT's where it went.
    C: Please don't feed them, however they look at you.
    A: It was hard enough not to [wave|adopt one|offer it the other glove].
    """,
    """
    A: Is the hut free on {day} from {time}? It's my {n}th anniversary as a plotholder and I'd \
    like to make tea for everybody.
    O: It's yours. Congratulations!
    B: Has it really been that long? I remember you asking which end of the leek goes in the ground.
    A: And I remember you telling me wrong.
    C: 😂 I'll be there. Shall I bring the good chairs?
    A: Chairs, mugs, and any photographs from back then. I've got one of {B} with hair.
    B: I shall be ill on {day}.
    """,
  ]
}

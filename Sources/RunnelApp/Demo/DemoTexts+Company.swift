extension DemoTexts {
  /// Conversations between neighbours about this and that.
  // tidy:table
  static let company = [
    """
    A: {greeting}! I'm [coming up|heading over] on {day} around {time}, does anybody need \
    anything from the hardware shop?
    B: A pack of jubilee clips please, small ones.
    C: String. One can always use string.
    A: Clips, string. Last orders!
    D: A new back.
    A: They were out of those last time as well.
    """,
    """
    A: Heard a cuckoo just now, across the canal. Or somebody with a very good app.
    B: Heard it too. Twice on {yesterday}.
    C: Make a wish and turn the coins in your pocket.
    A: Only string in my pocket.
    B: Turn the string then.
    """,
    """
    A: There's a {bird} nesting in my watering can. What do I do?
    B: Buy a second watering can.
    C: How many eggs?
    A: {n}, pale, with freckles.
    C: About two weeks to hatch and two more to fledge. You've lent out the can for a month.
    A: It chose the good one of course. Copper rose.
    D: [They always do.|Excellent taste.|Put a note on it so nobody fills it.]
    A: Note's on. And I'm doing the {veg} with a saucepan.
    """,
    """
    A: My daughter wants a sunflower that's taller than her father. It's at 2 metres 20 now. Tips?
    B: How tall is the father?
    A: 1.86, but he has started wearing a hat.
    C: Tie it to something solid, feed it once a week, and don't let him water it.
    A: Ha. He has offered, I was suspicious.
    """,
    """
    A: Whoever left a bag of {fruit} on my chair: thank you. I've had a dreadful week and I sat \
    there and ate all of them.
    B: ❤️
    C: Wasn't me but I wish it had been.
    D: There'll be more where those came from 🙂
    A: Aha! {D}!
    D: I said nothing.
    """,
    """
    A: Is anyone going to the plant fair on {day}? I've two seats in the car.
    B: Yes please!
    C: And me, if I can bring a folding trolley.
    A: I've seen what you do with a trolley, {C}. One trolley's worth.
    C: One trolley and what I can hold on my lap.
    A: Leaving at {time} sharp from the top gate. I'm not waiting for people who say goodbye to \
    their {veg}.
    B: That happened once.
    """,
    """
    A: Heads up, the towpath is closed between the bridge and the lock until {day}.
    B: Can one get through with a bike?
    A: No, fence on both sides. Go round by Mill Lane, it's {n} minutes more.
    C: And there's an ice cream van on Mill Lane, so {many} minutes more.
    """,
    """
    A: {E} is out of hospital 🎉 Home since {yesterday}, tired but cheerful, and asks after the \
    {veg}.
    B: That's such good news.
    C: Tell them the beds are weeded and everything's watered.
    D: I'll drop off a box with a bit from everyone. Put something in it, it's on the bench in \
    the hut till {soon}.
    B: Put in {jam}.
    C: And {veg}, the small tender ones.
    A: They read all this aloud to me on the phone just now. No visits before {day}, but messages \
    are very welcome, and apparently the hospital tomatoes were 'an insult'.
    D: That's our {E}.
    """,
    """
    A: Question for the experienced: how do you stop yourself buying seeds in January?
    B: One doesn't.
    C: I hide the catalogue from myself. I'm good at finding it.
    D: I've a rule: one new variety for each one I give up.
    A: And?
    D: I've given up {veg} {n} times.
    """,
    """
    A: Photo day: what does your plot look like right now? I'll start: {n} rows of {veg}, one row \
    of weeds, one cat that isn't mine.
    B: Mine: {flower} everywhere, and somewhere under it the path.
    C: Bare earth and hope.
    D: The cat must have come over, it's on my {veg2} now.
    A: That cat has more plots than the committee knows of.
    """,
    """
    A: I've started writing down what I pick. {many} kilos since spring from a bed the size of a \
    parking space.
    B: Impressive! Is that with the {veg}?
    A: Without. I was afraid to weigh those.
    C: Do you count what the slugs get?
    A: They keep their own books.
    """,
    """
    A: Is there interest in an evening walk with the bat detector? {day}, when it gets dark, half \
    an hour along the canal.
    B: Oh yes. Children allowed?
    A: Children very welcome, they hear the low ones without any machine.
    C: We're two.
    D: Three of us if the little one sleeps in the afternoon.
    A: Wear long sleeves for the midges. Last time we had pipistrelles, a noctule high up over \
    the mill, and Daubenton's skimming the water like little hovercraft. It sounds like someone \
    typing very fast.
    B: We're so looking forward to it!
    """,
    """
    A: Does anybody mend tools? The handle of my father's {digger} has split and I'd hate to \
    throw it away.
    B: Don't! An ash handle costs next to nothing, I can fit it.
    A: Really? What can I give you for it?
    B: A coffee and the story of the {digger}.
    A: He bought it from the wages of his first job here, it has dug four gardens.
    B: Bring it on {day}. It'll dig four more.
    """,
    """
    A: Good luck to {B} at the show today! The leeks looked [enormous|unreal|like table legs] \
    when I passed.
    B: Thank you. I've been tucking them in at night.
    C: Is it true you talk to them?
    B: I read them the results of the other clubs. Back at the judging tent now, hands shaking.
    D: And? What did the judges say?
    B: Second!! Beaten by a man from across the river with a wheelbarrow FULL of ribbons. But \
    second! 🥈
    A: Second in the county, first with us.
    """,
  ]
}

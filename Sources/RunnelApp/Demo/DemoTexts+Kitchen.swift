extension DemoTexts {
  /// Conversations about cooking and keeping.
  // tidy:table
  static let kitchen = [
    """
    A: What does one do with {n} kilos of {veg}? Asking for a friend who is me.
    B: Soup, freezer.
    C: Grate, salt, squeeze, fry as little cakes with feta and mint.
    A: How long does one squeeze?
    C: Until you're tired of it, and then once more.
    A: They were so good that there's only half of it left. Thank you!
    """,
    """
    A: Jam question: mine hasn't set. {many} jars of very fine syrup.
    B: Lemon juice and once more to a rolling boil. Cold plate test!
    A: With all {many}?
    B: Or you call it cordial and say it was the plan.
    C: That's how my grandmother invented 'apricot sauce'.
    A: The label now says 'sauce'. Nobody needs to know.
    """,
    """
    sunita: Recipe as promised, for the green tomato chutney: 2 kg green tomatoes, 500 g onions, \
    500 g sultanas, 400 g brown sugar, 600 ml malt vinegar, a thumb of ginger, a spoon of mustard \
    seed, two chillies. Everything small, simmer for two hours, stir when you remember and then \
    all the time. Wait six weeks. Do not open before.
    A: I'll never manage the six weeks.
    sunita: Nobody does. Make double.
    B: How hot do the chillies have to be?
    sunita: Like a good argument. You should want another one afterwards.
    """,
    """
    A: Sunday lunch at the hut, who comes? I'd do a big pot of something with {veg}.
    B: Two of us, with bread.
    C: One and a salad.
    D: Four, and we bring {jam} and a tablecloth.
    A: Then that's ten with the usual latecomers. From half twelve!
    C: 'The usual latecomers' thanks you for your understanding.
    """,
    """
    A: Does anybody have a pressure canner? Or at least the courage?
    B: Canner yes, courage no. It hissed at me once and lives in the cellar since.
    C: I do mine in the oven, for fruit that's fine. For beans you do need the pressure.
    A: {B}, I'd like to meet your cellar.
    B: It's heavy and it has opinions. {day} after {time}?
    """,
    """
    jose: Para el gazpacho: tomates muy maduros, un pepino, un pimiento verde, un diente de ajo, \
    pan de ayer, buen aceite, vinagre y sal. Todo frío. Y por favor: nada de cubitos de hielo.
    A: I followed as far as 'pan'. Is it bread, and how much?
    jose: Bread from yesterday, one slice for a litre. And good oil. GOOD oil.
    sofia: Y comino, un poquito.
    jose: En mi casa no, Sofía 😄
    sofia: Por eso como en la mía.
    """,
    """
    A: My sourdough has moved. I mean: out of the jar, over the shelf.
    B: It's warm, feed it less and put it in a bigger home.
    A: It has a name now, so I can't throw any away.
    C: What's it called?
    A: {person}. Same temperament.
    """,
    """
    A: How do you keep {herb} over winter? Drying it tastes of hay.
    B: Freeze it in oil in the ice tray.
    C: Or salt: one part salt, four parts herbs, chop together, in the fridge until spring.
    A: Salt! Never heard of it, trying it on {day}.
    B: Mind that you then don't salt anything else. I speak from experience.
    """,
    """
    hanna: Zwetschgenkuchen ist im Ofen. Plum cake, for those who read only the end of messages.
    A: I read all of it and I'm on my way.
    hanna: In {n2} minutes it may be cut. With cream?
    B: With a question like that you'd be thrown out where I come from.
    A: Obviously with cream.
    """,
    """
    A: Who lent me the big preserving pan? I've washed it and can't remember for the life of me.
    B: Does it have a dent on one side?
    A: Two dents.
    B: Then it's {C}'s. Mine has one.
    C: It had one when you got it, {A}.
    A: Oh dear. {jam} by way of apology?
    C: Accepted. Dent it again any time.
    """,
  ]

  /// Single messages about cooking and keeping.
  static let kitchenRemarks = """
    {n} jars of {jam} on the shelf, and I haven't even tidied up yet.
    Tip of the day: freeze {herb} stalks for stock.
    The {seedling} soup was better on the second day. It always is.
    Does anyone need jars? A whole box by the hut door, lids inside.
    Made {jam} with half the sugar and double the lemon. Recommended.
    {veg} on the grill, oil, salt, lemon. That's it, that's the recipe.
    linh: Canh chua tối nay! Sour soup tonight, with the tomatoes from plot {plot}. 🍅
    fatima: Caldo verde for twelve on the stove, bring your own bowl.
    agnieszka: Pierogi! Za dużo, jak zawsze. {many} of them, come quickly.
    tamar: Shakshuka for lunch, everything in it except the eggs is from here.
    If you borrow the apple press, rinse it. With water. The same day. Please.
    minjun: 김치 담갔어요! First kimchi with our own cabbage 🎉
    Has anybody ever made marmalade from {fruit}? Should I be stopped?
    chloe: Tarte aux prunes, encore tiède. Il en reste trois parts.
    Elderflower's over, elderberries soon. Gloves on, everybody.
    """
}

extension DemoTexts {
  /// Short exchanges of which no two are alike: each turn is one of several, and a turn that begins
  /// with `?` is left out half of the time.
  // tidy:table
  static let exchanges = [
    """
    A: [Is anyone up there just now?|Anybody on the site at the moment?|Who's around?|Is somebody \
    near the hut?] [I think I left the tap on.|Could you look whether my shed's shut?|I can't \
    find my phone and I'm writing this from the kitchen.|I've a bad feeling about my greenhouse \
    vents.|Did I leave a bag on the bench?]
    B: [I'm here, give me a minute.|Just arrived, I'll have a look.|Yes, walking over.|Me, two \
    plots from yours.]
    B: [All fine.|Sorted, don't worry.|It was exactly as you feared, but now it isn't.|Yes, and \
    done.|Found it, fixed it, watered it.]
    A: [You're an angel.|Thank you!! 🙏|I owe you one.|What would I do without you, {B}.|Phew. \
    Thanks.]
    ?B: [Any time.|You'd do the same.|No bother at all.|A courgette will do.|😊]
    """,
    """
    A: [Does anyone have|Could I borrow|I'm looking for|Has somebody got] [a soil thermometer|a \
    post hole digger|a pair of long loppers|a spirit level|a big tarpaulin|a sieve for compost|a \
    hand drill|some old carpet|a bag of grit|an extension lead]? [Only for {day}.|Just for an \
    hour.|It'd be back by {day}.|No hurry.|Mine has vanished.]
    B: [Yes, in my shed, it's open.|I've one, come by at {soon}.|You can have mine, it's behind \
    the water butt.|I think {C} has one.|There should be one in the container, left side.]
    ?C: [Or take mine, it's newer.|I need it back by {day2} please, otherwise go ahead.|Careful, \
    the handle wobbles.|I was about to ask the same, can I have it after you?]
    A: [Brilliant, thank you.|Perfect, I'll come round.|Great, will bring it back clean.|Lovely. \
    Tea's on me.|Thanks both, you're quicker than the shop.]
    """,
    """
    A: [Something's eating|Something has found|I'm losing the fight for|Half of the night shift \
    was at] my {leafy}. [Little round holes.|Only the edges.|Nothing left but ribs.|No slime, so \
    not slugs.|And it leaves the weeds, of course.]
    B: [Flea beetle?|Caterpillars, look underneath.|Pigeons, I bet.|That sounds like \
    earwigs.|Could be the sawfly again.]
    ?C: [Fine netting from the day you plant, nothing else helps.|Water in the evening, they hate \
    it wet.|I pick them off by hand, it's oddly calming.|Nettle tea. It smells but it works.|Wait \
    a week, then the ladybirds come.]
    D: [Same here.|Mine too, so it's not you.|I gave up and planted {flower}.|I've stopped \
    growing them and started sleeping better.]
    A: [I'll try that, thanks.|Looked underneath. Oh dear.|Net's on. We'll see.|You were right, \
    {B}, dozens of them.|Thanks, I feel less alone now.]
    """,
    """
    A: [Picked today|Today's haul|Came home with|Just weighed]: {n} kilos of {veg}, [a handful of \
    {fruit}|some {herb}|a bunch of {flower}|a few {veg2}] and [a sunburn|one very surprised \
    frog|no energy left whatsoever|mud in both boots|a big grin].
    B: [Lovely!|Wow.|Green with envy.|That looks like a good day.|My dinner's looking at yours.]
    ?C: [What's your secret?|How do you do it?|Is that the bed by the fence?|Mine are nowhere \
    near, what did you give them?]
    A: [Just the ordinary sort, but from {E}'s seed.|Hardly did anything, the soil's good \
    there.|Compost and luck.|Water twice a week and a kind word.]
    ?D: [I'd swap some for eggs.|Save me a few?|Then I know what I'm having {day}: I'm coming to \
    yours.|You should enter them in the show.]
    """,
    """
    A: [What's the forecast saying for {day}?|Will it hold on {day}, do we think?|Anyone with a \
    better weather app than mine? Asking about {day}.|Is it going to rain on {day} or shall I \
    water?]
    B: [Dry until the afternoon.|Showers, says mine.|Sixty per cent, so like always.|Sunny with a \
    bit of wind.|My knee says rain.]
    ?C: [Your app's an optimist, {B}.|The swallows are flying low.|Last time it said that we all \
    got soaked.|The Norwegians say different, and they're usually right.]
    A: [I'll risk it then.|I'll bring a coat and sun cream.|Then I water today.|So nobody knows. \
    Thanks all 😄]
    """,
    """
    A: [Who's coming to|Who's in for|Shall we have|I feel like] [tea|a coffee|a glass of \
    something|soup] [at the hut on {day}|under the {tree} tree on {day}|at mine after the \
    watering|on {day} around {time}]?
    B: [Me!|Count me in.|Gladly.|I'll bring cake.|If I may bring my sister.]
    C: [Can't, working, have one for me.|I'll be late but I'll be there.|Yes please.|Only if \
    there are no speeches.]
    ?D: [Shall I bring chairs?|I've got {jam} to open.|We're two, if that's all right.|I've still \
    got your mugs, they'll come with me.]
    A: [Great, see you there!|The more the merrier.|Perfect. No speeches.|Lovely, I'll put the \
    kettle on at {time}.]
    """,
    """
    A: [Reminder:|Just so that it's not forgotten:|For those who read only one message a \
    day:|Small thing:] [the skip is emptied on {day}, so fill it before|please rinse the cans \
    after the tomato feed|please don't hang the hose over the tap, it cracks|the shed lamp stays \
    on if you don't push the switch twice|no diseased leaves into the common compost, please].
    B: [Thanks for the reminder.|Will do.|Noted.|👍|Good to know, I was about to ask.]
    ?C: [Could we put that on the board as well?|Good that somebody says it.|Since when? Oh, \
    since always. Sorry.|I'll tell the neighbours who aren't in here.]
    ?A: [Thank you 🙂|You're the best.|Already on the board.|It wasn't aimed at anyone!]
    """,
    """
    A: [Beginner's question:|May I ask something stupid?|I've read three books and they all \
    disagree:|Help me out here:] [when do you lift {veg}|how deep do {veg} go in|when do you sow \
    {veg} for autumn|how far apart do you put {veg}|can one sow {veg} twice in a year]?
    B: [Ask three gardeners and you'll get four answers. Mine's: later than you think.|I always \
    do it when the elder is in flower.|I go by the packet and then wait a week.|When {C} does it, \
    I do it.|Depends on your soil. Heavy or light?]
    ?C: [Exactly what {B} says, but a week earlier.|I've done it wrong for {many} years and they \
    grow anyway.|Look at the leaves, they tell you.|My mother used to say: when you can sit on \
    the soil with a bare bottom. I've never checked.]
    A: [That I can remember.|Wonderful, thank you.|I'll write it on the shed wall.|So: feeling. \
    Fine. I've plenty of that.|😂 thank you, I think]
    """,
    """
    A: [Just saw|There's|Look out for|We have a visitor:] [a kingfisher on the sluice|a slow worm \
    under the carpet by plot {plot}|a whole family of long-tailed tits in the willow|a \
    hummingbird hawk-moth on the {flower}|a grass snake crossing the lower path|a deer. A deer! \
    In the lane!].
    B: [Oh how wonderful.|Where exactly?|I've waited years to see one.|I'm running.|Is it still \
    there?]
    ?A: [Gone now, sorry.|Still here, come quietly.|It looked at me for a good minute.|Sitting \
    there as if it paid rent.]
    C: [I'll write it into the book.|That's the {n}th one this year.|The ponds are paying \
    off.|Better than television.|Write down the date!|I never see anything, I only ever look at \
    weeds.]
    """,
    """
    A: [Thank you {B} for|{B}, you didn't have to do that, but thank you for|Everyone should know \
    that {B} is responsible for|A round of applause for {B}, please, and for] [the new step by \
    the brook|mending the tap|clearing the blocked drain|watering my beds while I was \
    ill|carrying all that timber].
    B: [It was nothing.|I had help from {C}.|The old one was a danger to shipping.|You'd have \
    done the same.|Oh stop it. (Go on.)]
    ?C: [I only held the torch.|I made the tea, which is the main thing.|It WAS a lot of work, \
    don't believe a word.]
    D: [👏👏|Hear, hear.|So that's who it was!|Thank you both!|I noticed it this week and wondered.]
    """,
    """
    A: [Left over|Going spare|To give away|Too many of them]: [{n} {seedling} plants|a bag of \
    {veg}|a tray of {leafy}, pot-grown|half a sack of lime|some {herb} in pots|a bundle of hazel \
    sticks], [{place}|on the table in the hut|by the gate|in the blue crate at plot {plotA}].
    B: [Took two, thanks!|Are they still there?|Oh yes please.|Keep me some? I'm there \
    {day}.|Just what I needed.]
    ?C: [And me, if there's enough.|I'll have what {B} leaves.|Lovely colour, by the way.|My \
    bed's full but my heart says yes.]
    A: [All gone now, that was quick.|Yes, help yourself.|I've put yours aside, {B}.|There's one \
    left, who's fastest?]
    """,
    """
    A: [How are everyone's|What are you all doing about the|Is anyone else worried about their] \
    {veg} this year? Mine [have stopped dead|are all leaf|flower like mad and set nothing|split \
    as soon as I look away|are the size of marbles].
    B: [Same on plot {plotB}.|Mine are the best ever, sorry.|Cold nights, I think.|Mine went \
    straight to seed.|Late, but they're coming.]
    C: [Give it two weeks.|It's the year for {fruit}, not for {veg}.|Too much nitrogen?|They want \
    potash.|Less water and more patience.]
    ?A: [Patience, the only thing I haven't sown.|Then I'll wait.|Good to hear it isn't just \
    me.|Right. Potash. {day}.]
    """,
    """
    A: [Small accident:|Oh dear:|A confession:|Please don't laugh:] [I've watered the wrong plot \
    for a week|I've dug up my own water pipe|I sat on the cold frame|my greenhouse door came off \
    in my hand|I pruned the wrong tree|I've dropped my keys into the water butt].
    B: [I'm laughing a little.|Are you hurt?|We've all done it.|Is there a photo?|Stay there, I'm \
    coming over.]
    ?C: [{B} did exactly that in the spring.|That's how I started too.|I've got a magnet on a \
    string, if that helps.|Say nothing to {O}.]
    O: [I can read this, you know.|Nobody's cross.|We have a form for that. No we don't.|Put it \
    in the book of mishaps.|Need a hand with it on {day}?]
    A: [Thank you for being kind about it.|Only my pride.|Already half mended.|I'll bring biscuits.]
    """,
    """
    A: [Is anybody driving|Who's going|Does anyone go] to [the tip|the garden centre|the timber \
    yard|the builder's merchant] [this week|on {day}|in the next few days]? I'd need [room for \
    two sacks|a lift|three paving slabs brought back|somebody with a roof rack].
    B: [I am, {day} around {time}.|Yes, I've room.|I can, if you help me unload.|Not this week, \
    sorry.|I could make it {day2}.]
    ?C: [Could you take my old fence as well?|If there's space, a bag of grit for me please.|I've \
    a trailer you can borrow.]
    A: [Wonderful, I'll pay the petrol.|Perfect.|That's really kind.|Thanks! I'll be at the top \
    gate.]
    """,
    """
    A: [Has anybody tried|What do you think of|Is it worth trying|I keep reading about] \
    [no-dig|growing {veg} in bags|heated propagators|hot composting with sawdust|planting by the \
    moon|wool pellets against slugs]?
    B: [Three years now, never going back.|Once.|It works, but not for the reason they say.|My \
    grandfather did nothing else.|On half of my plot, to compare.]
    C: [And which half is better?|I'm sceptical, but I like {B}'s beds.|Lots of cardboard, that's \
    all I'm saying.|It cost me a fortune.|I tried and the cat slept on it.]
    ?D: [I can lend you the book.|Come and look at mine on {day}.|There's a talk about it at the \
    library on {day2}.]
    A: [You've convinced me.|I'll try it on one bed.|So: maybe. Thanks!|I'll start small and \
    complain here.]
    """,
    """
    A: [Does anyone recognise|Whose is|I've found|Somebody's missing] [a red bicycle lock|a \
    child's wellington|a very good knife|a thermos with a dent|a straw hat with a feather|one \
    half of a pair of shears] [by the gate|on the bench|in the long grass {place}|next to the hut]?
    B: [Not mine.|Could be {C}'s.|I saw that there on {yesterday} already.|I wish it were mine.]
    ?C: [That's mine! I'd given it up.|Mine, thank you, I was about to buy a new one.|Not guilty.]
    A: [It's on the hook inside the hut.|I've hung it on the notice board.|I'll keep it in my \
    shed till {day}.|In the box with the other lost souls.]
    """,
  ]
}

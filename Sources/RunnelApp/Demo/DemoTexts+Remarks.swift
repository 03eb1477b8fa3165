extension DemoTexts {
  /// Single messages of the main group, one a line.
  // tidy:table
  static let remarks = """
    {greeting} from plot {plot}. Nobody here but me and a very self-confident {bird}.
    {greeting} all. Coffee's on in the hut if somebody's around.
    {fine} Good day to be out.
    {rain} I've never been so glad of a hut.
    The {climber} are in flower!
    Picked the first {fruit} today. Sharp as a knife but I don't care.
    Whoever shut the gate last night: thank you. Whoever didn't on {yesterday}: 😐
    The sky over the canal just now. Words fail me.
    {n} kilos of {veg}. Send help or recipes.
    Found a hedgehog under the pallets {place}. Please check before you move anything!
    Has anyone got a spare bicycle pump up here? // A: Never mind, found it.
    Sorry, wrong group!
    I'll bring the scales back on {day}, promise.
    A {bird} has taken up residence on my {tool}. I'm not allowed to dig any more, apparently.
    Lost: one green glove, left. It has lived a full life, but I'd like it back.
    Found: a pair of reading glasses on the bench {place}. They make everything look very close.
    Found: one flask, half full, still warm.
    Mulched the whole of plot {plot} today. Everything hurts, everything's lovely.
    Does it smell of smoke to anyone else, or is that the barbecue over the canal? // B: It's the \
    barbecue. I've been offered a sausage.
    Off home. Last one out, lock the shed please. // B: That's me then. All locked.
    Anybody still here? I've locked myself out of my own shed. // B: Coming, I've got the bolt \
    cutters and a biscuit.
    Thanks again for the help earlier, you lot are the best neighbours.
    My back says no more digging before {day}.
    Slug count so far: {many}. I've stopped naming them.
    If you see a small dog with a very large carrot, that's ours. The carrot isn't.
    Sown: {veg}. Hoping for the best, prepared for the pigeons.
    Transplanted the {veg}, and it started raining the very minute I'd finished. Perfect.
    Spotted on the notice board: 'Swap: {n} marrows for literally anything'.
    Is that a heron on the hut? // B: It was a heron. It's gone now, and so are two of the goldfish.
    Twelve painted ladies on one {flower} 🦋
    The {flower} smell like my grandmother's garden.
    Bread oven is hot until {soon} if somebody wants to use the last of it.
    Radio says storm on {day}. Please tie down your cloches. // B: Cloches tied, chairs in, cat \
    offended.
    All fine here after the wind, just one pot broken.
    There's a puddle the size of plot {plot} in front of the gate. Wellies!
    Tea at {soon} under the {tree} tree, bring your own mug.
    I was told to post a photo of my {veg}, but my phone's in the compost. Long story. // A: \
    Phone is out of the compost. It takes better pictures than before.
    Watered plot {plot} and the one beside it, both were gasping.
    Rota done for today, butts are full, tap's off.
    Half an inch in the rain gauge!
    Nothing in the rain gauge but a spider.
    My {veg2} look like something from a museum. Not the nice part of the museum.
    Could whoever has the sack barrow put it back when it suits? No hurry, just {n} bags of \
    {veg}. // A: Sack barrow's back, thank you, mystery person.
    Lovely to see so many of you today.
    New record: {many} minutes on the site before I actually did any gardening.
    A child just asked me whether potatoes are 'in there all the time'. I said yes. We were both \
    amazed.
    I think I've finally understood pruning. Ask me again next year.
    Note to self: label things. // A: Second note to self: use a pen that survives rain.
    Happy birthday {person}! 🎂
    Get well soon {person}, we've got your beds covered.
    {person}, your parcel's with me. It rattles. Is it meant to rattle?
    {B} your sprinkler is still on! // B: Off, thank you! It made its own wetland.
    There's cake left in the hut. 'Left' may no longer be true in ten minutes. // B: Confirmed: \
    cake's gone.
    The bench {place} has been mended. Sit with confidence.
    Fresh wood chips by the hardstanding, help yourselves. // A: Wood chips are finished, that \
    went fast!
    The swifts are back over the mill. I counted {many} 🖤
    Bats over the brook again last night, at least {n}.
    {Up early/Last light}, the whole site to myself and mist on the brook.
    {First bus, first one here, first mug of tea/Last bus missed, still on the bench with my \
    tea}. Perfect.
    {A wren is singing as if it were paid/The owl is back in the willow}. Sat and listened for a \
    while.
    The tap by plot {plot} drips. I've put a can under it, help yourselves to the can.
    I'm sowing green manure on {day}, there's seed left for one more plot.
    Somebody's left {jam} on my step. I have suspects, and gratitude.
    Just had the best {fruit} of my life and I want everyone to know.
    Number of {seedling} seeds sown: {many}. Number up: one. It looks lonely. // A: Update: two. \
    They look smug.
    Netting is half price at the garden centre until {day}.
    The wheelbarrow with the squeak no longer squeaks. I miss it already.
    Passed the inspection! They said 'characterful'.
    I've been gardening for {many} years and a radish made me gasp today.
    Compost thermometer says {many} degrees. I'm irrationally proud.
    Would the owner of the orange bucket please come and talk to the toad in it. // B: Toad \
    relocated. It gave me a look.
    Parking at the lane is full, use the school's, it's open today.
    No signal at the bottom end again, so if I don't answer, shout.
    Beans to pole: 6. Pole to beans: 0.
    Who planted the {flower} along the fence? It's glorious from the train.
    The train driver just waved. At me or at the pumpkins, hard to tell.
    Ran out of string. Used a shoelace. Walking home carefully.
    Can confirm: {veg} and {veg2} in one pan, garlic, done.
    jose: Qué {mañana/tarde} más bonita. De aquí no me mueve nadie.
    jose: Los pimientos, por fin rojos 🌶️
    sofia: ¿Quién me ha regado los tomates? ¡Gracias de corazón!
    marisol: Hoy huele a tierra mojada. Lo mejor del mundo.
    lukasz: Dzień dobry! Kawa w altance, zapraszam.
    agnieszka: Piękne światło nad kanałem. Warto było zostać.
    hanna: {Schönen Tag/Schönen Feierabend} zusammen, die Bohnen sind gegossen.
    hanna: So ein Regen! Endlich. Grüße an alle Pfützen.
    chloe: Première tomate, mangée au soleil, sans sel, sans assiette. Le bonheur.
    olga: Какое сегодня небо! И огурцы, наконец, пошли.
    ivan: Гарбузи вже як футбольні м'ячі 🎃
    amina: {صباح/مساء} الخير يا جيران، رائحة النعناع في كل مكان.
    leila: باران بالاخره آمد. Finally, rain!
    chen: 今天摘了三條絲瓜，晚上煮湯 🥒
    linh: Mưa to quá! Rau muống thích lắm 😊
    haruto: 雨上がりの畑、いい匂いです。
    haruto: ナスが豊作です。おすそ分けします！
    minjun: 고추가 빨갛게 익었어요 🌶️
    sunita: आज पहली भिंडी तोड़ी! First okra, I could dance.
    ayse: Bugün biberler kızardı, akşama közleme var.
    dimitra: {Καλημέρα/Χαιρετίσματα} από τον κήπο! Τα σύκα είναι έτοιμα.
    fatima: Que dia lindo. Apanhei feijão até doer as costas.
    pekka: Aurinko paistaa, sauna lämpiää, mitä muuta ihminen tarvitsee.
    anders: Så er der kartofler! Kom og hent.
    bjork: Góðan daginn! Rabarbarinn er óstöðvandi.
    stefan: {Bună dimineața/Bună ziua}! Vinetele sunt gata pentru zacuscă.
    tamar: שלום לכולם, השארתי עגבניות ליד השער.
    rhys: Mae'r glaw wedi dod o'r diwedd! Rain at last.
    ilse: Lekker weertje, koffie staat klaar op perceel 7 ☕
    Silly question: is that a weed or is it the crop? // A: It was the crop. It WAS the crop.
    """
}

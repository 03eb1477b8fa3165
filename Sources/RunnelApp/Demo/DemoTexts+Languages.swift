extension DemoTexts {
  /// Conversations in the languages of the site, and between them.
  // tidy:table
  static let languages = [
    """
    jose: ¿Alguien sabe si el agua vuelve [hoy|mañana|esta tarde]? Los pimientos están pidiendo \
    socorro.
    sofia: Dicen que a las {soon}. Tengo dos bidones llenos en la {plot}, coge lo que necesites.
    jose: ¡Mil gracias, Sofía! Te debo una caja de pimientos de Padrón.
    marisol: ¿Y de los que pican o de los que no?
    jose: Eso no lo sabe nadie 😄
    sofia: Unos pican y otros no. Como los vecinos.
    """,
    """
    lukasz: Kto ma ochotę na ogórki kiszone? Słoiki stoją u mnie w altance, koper i czosnek już są.
    agnieszka: Ja! Przyniosę liście wiśni i chrzan.
    A: I understood 'ogórki'. Does that mean gherkins, and may one come?
    lukasz: It does and one may 🙂 {day}, {time}, plot 8. Bring a jar.
    agnieszka: Dwa słoiki, bo jeden zniknie od razu.
    A: Two jars, got it. I think.
    """,
    """
    hanna: {Guten Morgen/Hallo zusammen}! Hat jemand noch Vlies übrig? Für die Nacht auf {day} \
    sind zwei Grad gemeldet.
    stefan: Hallo Hanna, ja, etwa drei Meter. Liegt im Gewächshaus auf dem Regal.
    hanna: Großartig, danke! Ich bringe dir dafür ein Glas Zwetschgenmus.
    A: Does Zwetschgenmus happen to people who have fleece? Because I have fleece.
    hanna: Zwetschgenmus happens to all good people, {A}.
    """,
    """
    chloe: Coucou ! Les figues sont mûres derrière la cabane, servez-vous avant les guêpes 🙂
    aisling: Merci Chloé! How many may one take without being rude?
    chloe: Trois. Quatre si tu souris.
    aisling: I smiled. I took five. Je suis désolée.
    chloe: C'est noté dans le grand livre des figues.
    """,
    """
    olga: {Доброе утро/Всем привет}! Кто-нибудь видел мою синюю лейку? Стояла у бочки.
    ivan: {Добрий ранок/Вітаю}, Ольго! Здається, вона у Лукаша, він недавно поливав часник.
    lukasz: Yes, I have it, sorry! I'll put it back by the barrel in {n} minutes.
    olga: Спасибо вам обоим. Привет чесноку!
    ivan: Часник передає вітання. Такого великого ще не було.
    A: I read all of this with a dictionary and I'm glad the garlic is well.
    """,
    """
    amina: {صباح الخير/مرحبًا}! النعناع عندي كثير جدًا، خذوا ما تشاؤون من القطعة ٢٢ 🌿
    A: Hello أمينة, is that the mint?
    amina: Yes! So much mint. Please take it, it's walking towards the gate by itself.
    leila: من هم می‌خواهم، ممنون! For tea and for the yoghurt.
    amina: أهلًا وسهلًا، الباب مفتوح.
    A: Took a bunch, the whole bus smelled wonderful.
    """,
    """
    chen: {大家早安/大家好}！今天的空心菜長得太好了，有人要嗎？ (Water spinach, lots of it, plot 12.)
    linh: Dạ em lấy một bó nhé! Em xào tỏi.
    chen: 給妳留兩把 😊
    A: How does one cook it?
    linh: Very hot pan, garlic, one minute, a bit of fish sauce. Don't think, just stir.
    chen: 對，火要大！
    A: Did exactly that. Why have I eaten anything else until now?
    """,
    """
    haruto: {おはようございます/こんにちは}。枝豆がそろそろ食べごろです。 (Edamame are ready, first ones.)
    minjun: 와, 축하해요! 저도 깻잎이 많이 있어요. 바꿀까요?
    haruto: 교환, 좋아요! I mean: yes please. My Korean ends here.
    minjun: 제 일본어도요 ㅎㅎ See you at the bench at {soon}?
    haruto: はい、ベンチで。
    A: I'd like to apply for the position of person who tastes both.
    """,
    """
    sunita: नमस्ते सबको! मेथी और धनिया बहुत हो गया है, कोई लेगा? Fenugreek and coriander, help \
    yourselves.
    priya: हाँ दीदी, मैं शाम को आती हूँ! Methi paratha on the menu then.
    sunita: दो मेरे लिए भी बनाना 😄
    A: Do I see an invitation in there anywhere?
    priya: There's always one more paratha. {day}, {time}, at the hut.
    """,
    """
    ayse: {Günaydın/Merhaba}! Domateslerim bu yıl çok güzel oldu, kim salça yapmak ister?
    dimitra: {Καλημέρα/Γεια σου} Αϊσέ! Εγώ! Έχω και βασιλικό.
    ayse: Harika! {day} {time}, büyük kazan bende.
    A: I make that: tomatoes, a cauldron, and Δήμητρα with basil. I'm coming.
    dimitra: Bring a wooden spoon and something that may get red.
    """,
    """
    fatima: {Bom dia/Olá}! Sobrou couve-galega, quem quer para o caldo verde?
    pekka: Minä otan mielelläni! Is it the tall one like a palm tree?
    fatima: Essa mesma. Corta as folhas de baixo e deixa a coroa.
    pekka: Kiitos paljon, obrigado, thank you. Soup tonight.
    fatima: E não te esqueças do chouriço!
    """,
    """
    anders: {God morgen/Hej}! Nogen der kan låne mig en skovl? Min er knækket midt over.
    ilse: Natuurlijk, kom maar langs op perceel 7. De grote of de kleine?
    anders: Den store, tak. I have a tree stump to reason with.
    ilse: Then take the big one and the crowbar. And a coffee first, want zonder koffie geen boom.
    anders: Klart. {n} minutter.
    """,
    """
    tamar: {בוקר טוב/שלום}! יש לי יותר מדי מלפפונים, מי רוצה? Too many cucumbers, the small \
    crunchy ones.
    A: Me! How many is too many?
    tamar: {many}. By {day} it will be {many} more.
    rhys: {Bore da/Helô}! I'll take a bag, diolch yn fawr.
    tamar: בשמחה. On the table by the gate, bag them before the sun does.
    """,
  ]
}

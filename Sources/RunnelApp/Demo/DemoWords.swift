/// The words for the slots that depend on nothing.
enum DemoWords {
  // tidy:table
  static let lists: [String: [String]] = [
    "veg": [
      "courgettes", "runner beans", "tomatoes", "beetroots", "leeks", "onions", "cucumbers",
      "peas", "broad beans", "carrots", "aubergines", "peppers", "chillies", "pumpkins",
      "French beans", "cabbages", "turnips", "lettuces", "radishes", "kohlrabi",
    ],
    "herb": ["basil", "coriander", "dill", "parsley", "chives", "tarragon", "lovage", "mint"],
    "fruit": [
      "plums", "damsons", "greengages", "pears", "apples", "cherries", "figs", "raspberries",
      "gooseberries", "blackcurrants", "mulberries",
    ],
    "flower": [
      "sweet peas", "dahlias", "marigolds", "cosmos", "nasturtiums", "cornflowers", "hollyhocks",
      "poppies", "zinnias",
    ],
    "tool": [
      "spade", "hand fork", "hoe", "rake", "border fork", "trowel", "mattock", "edging iron",
    ],
    "place": [
      "by the compost bays", "near the top gate", "behind the hut", "by the big willow",
      "next to the water butts", "along the lower path", "by the notice board",
      "at the end of the lane", "beside the greenhouse",
    ],
    "time": [
      "half past nine", "ten", "11:00", "half two", "three", "16:30", "five", "17:30", "six",
      "half six", "seven", "9:30", "quarter past four",
    ],
    "jam": [
      "a jar of plum jam", "some elderflower cordial", "a jar of piccalilli", "rhubarb jam",
      "a slab of quince paste", "green tomato chutney", "raspberry jam", "a bottle of sloe gin",
      "blackcurrant jelly", "pickled beetroot",
    ],
    "bird": ["robin", "wren", "blackbird", "song thrush", "great tit", "dunnock", "wagtail"],
    "tree": ["plum", "pear", "apple", "cherry", "walnut", "old damson"],
    "seedling": ["tomato", "courgette", "leek", "lettuce", "pumpkin", "cucumber", "celery"],
    "leafy": ["cabbages", "sprouts", "kale", "broccoli", "lettuces", "chard", "pak choi"],
    "climber": ["runner beans", "French beans", "sweet peas", "cucumbers", "sugar snaps"],
    "digger": ["spade", "border fork", "digging fork", "mattock"],
    "heat": [
      "Thirty-one degrees in the shade.", "Not a drop for days.", "Hot already.",
      "The ground's like a biscuit.",
    ],
    "rain": [
      "What a downpour last night.", "Thunder over the mill half the night.",
      "That was a proper cloudburst.", "It's coming down in ropes.",
    ],
    "fine": [
      "Sun at last!", "Blue sky from one end to the other.", "Grey and soft and warm.",
      "Not too hot, not too wet.",
    ],
    "weather": [
      "What a downpour last night.", "Not a drop for days.", "Sun at last!",
      "That wind has no manners.", "Thunder over the mill.", "Grey and soft and warm.",
      "Hot already.", "Fog down to the canal, magic.", "Blue sky from one end to the other.",
      "It can't decide whether to rain.",
    ],
  ]
}

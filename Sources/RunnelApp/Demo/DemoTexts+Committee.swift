extension DemoTexts {
  /// Conversations of the committee.
  // tidy:table
  static let committee = [
    """
    O: Agenda for {day}: accounts, key box, waiting list, open day. Anything else?
    P: The hedge along the lane. The council wrote again.
    O: Added. In the hut at {time}, I bring biscuits.
    A: I'll be {n} minutes late, start without me.
    P: We'll start with the biscuits without you.
    """,
    """
    noor: Accounts to the end of the month: 1,912 in, 1,640 out, the difference is the roof fund. \
    Water was {many} less than last year, so the butts have paid for themselves.
    O: Brilliant. Can I quote that in the newsletter?
    noor: With pleasure. Round it down, people don't trust exact numbers.
    A: Says the treasurer.
    """,
    """
    O: Two applications for plot {plot}. One has been waiting for four years, the other has just \
    moved into the house behind it.
    A: By the list, always by the list.
    P: Agreed. But let's offer the other one a place in the orchard group meanwhile.
    O: Good. I'll ring both on {day}.
    O: Rung. The first cried a little. I did as well.
    """,
    """
    A: Insurance has sent the renewal, it's up {n} per cent. Do we ask around?
    P: I did last year, this was still the cheapest with the hut included.
    A: Then I'd pay it and be done.
    O: Seconded.
    noor: Paid on {today}, receipt in the folder.
    """,
    """
    O: The roofer looked at the hut. 2,300 for felt, 3,100 for tin.
    P: Tin lasts forty years, felt fifteen.
    A: And tin sounds lovely in the rain.
    noor: We have 1,870 in the fund and the open day usually brings about 400. I could put the \
    rest forward from the reserve until spring, if we write down that we pay it back first.
    O: So tin? Hands please.
    P: ✋
    A: ✋
    O: ✋ carried. I'll ask for a date.
    """,
    """
    P: There was a complaint about the cockerel near plot {plot}. Again.
    O: What does the agreement say?
    P: Hens yes, cockerels no.
    A: In fairness it was sold as a hen.
    O: I'll talk to them. Gently. With cake.
    P: Update: he moves to a farm on {day}. There was singing.
    """,
    """
    A: Minutes of the last meeting are in the folder, please read before {day}.
    O: Read. On page two it says 'Mr Whitcombe objected to the geese', but it was the grease.
    A: Corrected. I did wonder about the geese.
    P: I was looking forward to the geese.
    """,
    """
    O: Who takes the stall at the town market on {day}? We'd have it from nine.
    A: I can until noon.
    P: And I from noon on. Do we still have the banner?
    O: Behind the piano in the hall. It says 'Riversde' but nobody has ever noticed.
    P: I've noticed it now and can't stop.
    """,
  ]

  /// Single messages of the committee.
  static let committeeRemarks = """
    Bank letter's here, I'll scan it tonight.
    Reminder: the hall wants our dates for the winter by {day}.
    The council confirmed the skip for {day}. One only, so metal goes to the yard.
    Newsletter draft is in the folder. Please be merciful.
    I've met the new tenant of plot {plot}. Very keen, brought her own spirit level.
    Key number {n} is back. Number {n2} is still out, I believe {person} has it.
    Thanks for a short meeting everyone, home before dark!
    Paid the water bill.
    I can't do {day} after all, could somebody open the hut?
    """
}

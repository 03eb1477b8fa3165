extension ConfigurationFile {
  /// A template of the file: every setting with its default value, commented out.
  public static let template = """
    # How Runnel looks and which keys do what. A change is taken over when the file is saved.
    # `runnel config check` tells what is wrong with it, `runnel config keys` lists all actions.

    # auto asks the terminal what is behind the text. Others: dark, light, dark-high-contrast,
    # light-high-contrast, dark-color-blind, light-color-blind, mono, terminal (your own palette);
    # and NAME for a file themes/NAME.yaml beside this one, with `base: dark` and `roles:` as below.
    #theme: auto

    # Other colors in whatever theme is used; `runnel config roles` lists all roles. A color is 0 to
    # 255, "#rrggbb" or a name such as red; alone it is that of the text. A role may be as another one.
    #roles:
    #  row.new: "#5fd787"
    #  title: { foreground: 110, background: default, attributes: [bold, underline] }
    #  hint.key: link

    # auto, none, 16 or 256.
    #colors: auto

    # auto, unicode or ascii.
    #signs: auto

    # on or off. With it on, hold Shift to select text.
    #mouse: on

    # 24h or 12h.
    #time: 24h

    # How many rows a page has where a view does not say.
    #page: 50

    # After how many seconds without a key others are no longer told that you are typing.
    #typing: 10

    # Who you are in new records; otherwise the name that the system knows.
    #me: zoe

    # The views of a database that has none beside it; from this folder on, if it is no whole path.
    #views: default.views.yaml

    # Profiles: names for servers' databases, as in `runnel open prod` and `runnel get /users -d prod`.
    # The colors of the header are red, yellow, green, blue, magenta and cyan.
    #origins:
    #  prod:
    #    url: https://chat.example.com/?ns=main
    #    token-file: prod.token
    #    read-only: true
    #    confirm: true
    #    color: red
    #    views: prod.views.yaml
    #    cache: 500MB

    # Stores: names for databases of PostgreSQL, as in `runnel serve --store main`. Only you should be
    # able to read a file with a password in it; ~/.pgpass is another place for that.
    #stores:
    #  main: host=db1.example.com,db2.example.com dbname=runnel user=runnel

    # How views with `notify: true` tell of new rows while you look elsewhere: bell, osc9, osc777,
    # notify-send; and when they do not.
    #notify:
    #  by: [bell, notify-send]
    #  quiet: 22:00-07:00

    # Other keys for actions, everywhere or in one context; [] takes the keys away. Keys that you
    # give to an action are taken from the one that had them there.
    #keys:
    #  row.down: [j, Down, C-n]
    #  section.next: ["]]", "}"]
    #  list:
    #    page.down: [C-f, PgDn]

    """
}

/// A certificate of `localhost` that signed itself, with its key; for tests only.
///
/// Both were made by `openssl req -x509 -newkey rsa:2048 -nodes -days 36500` for the names localhost,
/// 127.0.0.1 and ::1.
package enum TestCertificate {
  /// The certificate, in PEM.
  package static let certificate = """
    -----BEGIN CERTIFICATE-----
    MIIDOjCCAiKgAwIBAgIUEQSu6NRQuHKGCVCg7VdQSxTvriYwDQYJKoZIhvcNAQEL
    BQAwFDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMzEyMzYyM1oYDzIxMjYx
    MDMwMTIzNjIzWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwggEiMA0GCSqGSIb3DQEB
    AQUAA4IBDwAwggEKAoIBAQCV5xl+VE8Bc0h3Re4OWqyByxg/dSNy4Cw5lnwwetoA
    s3Ze3M/JzGqb7TW5USDZTBf0L5DbE35qqM74pWVFUZCFGm4zfM6LOdWEb+mLoY8M
    2quqB4z354BGikJV/ZXZTzp5s0aAJNuQe1nEWKvADo8l9jP6bAvTC8+75cabnMpJ
    4ikv5F9szqvopTG2YdWxV/Wu7ICot8+XIK0dWuoNDupUXhhB9QrfvByry/4bINSP
    W+SE3LX9MdzwX/nZHe+M9hAKDIYHSoHy/l5YLHFlFJfOxRE4ScWEUYjZJRn+QyJs
    ZpM1cr50Ghsm1l1zBXkKVOFITrdJHpsySidIGkqJL13VAgMBAAGjgYEwfzAdBgNV
    HQ4EFgQUgjM9kgBJkpnpxr6DyDhjxc3fasMwHwYDVR0jBBgwFoAUgjM9kgBJkpnp
    xr6DyDhjxc3fasMwDwYDVR0TAQH/BAUwAwEB/zAsBgNVHREEJTAjgglsb2NhbGhv
    c3SHBH8AAAGHEAAAAAAAAAAAAAAAAAAAAAEwDQYJKoZIhvcNAQELBQADggEBAIao
    CEpllhXtzB5e6xRmCG2PxEfyNnOU8jdSQQ94hZJh4TCU5NB8dFS0egQ/yKl66K3q
    vwRonnmaW0DvGxTJxUxLSzprcd+K5yV/6RM1CeeZ8LQCjb3Fr0lGvDfF1YSZ5ECR
    p3/IiLxzFsbD4ne5U7GcgbdfX1RM0RpBgJ1xuVU0MBoW4K4QhXJJaD9btk579SxJ
    9JYOB+1eWbc8IbiWTaldEWYSIFGyYD8HB8CoLjNzqgb30R7POmxK6yUsys47nIYq
    JzbFGiDKyLmX1EtMUD578xa1DiJcD1QTW1lTPZkTvkfSocW7+WxIiC5QQ30ycgjn
    /u5HnjGkypIer8ScdD4=
    -----END CERTIFICATE-----
    """

  /// The key, in PEM.
  package static let key = """
    -----BEGIN PRIVATE KEY-----
    MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQCV5xl+VE8Bc0h3
    Re4OWqyByxg/dSNy4Cw5lnwwetoAs3Ze3M/JzGqb7TW5USDZTBf0L5DbE35qqM74
    pWVFUZCFGm4zfM6LOdWEb+mLoY8M2quqB4z354BGikJV/ZXZTzp5s0aAJNuQe1nE
    WKvADo8l9jP6bAvTC8+75cabnMpJ4ikv5F9szqvopTG2YdWxV/Wu7ICot8+XIK0d
    WuoNDupUXhhB9QrfvByry/4bINSPW+SE3LX9MdzwX/nZHe+M9hAKDIYHSoHy/l5Y
    LHFlFJfOxRE4ScWEUYjZJRn+QyJsZpM1cr50Ghsm1l1zBXkKVOFITrdJHpsySidI
    GkqJL13VAgMBAAECggEAEAsJuXGAeyFBcjJzxemCaOm5kKESyCqh0Q///phHWKfc
    VU7AllJgXovGoizCnT79mU617Bxr/TJP5GCfNAoEs5oejTggStpHtcLcdes2iiOl
    F69zMNz/54zIiLd5ICbQlVHQi8pmDVKGSvNKfmWQgHmXGogRw+aRtwRieykOpVV7
    MD837G0BtXYgItZ1lygOk5/PNfIgLzw8ZAd4aQEyfZr2VWANPzWkATz5ZcO/P5/4
    R4NDnmTnTX7FNQ38hjhPzTKiRALqmSql4RO7CEdJVIVGUvp3po32S+kOky/tBSxF
    UI77Dg4om3rkthunk2cpD8WZMzMNxuN9eTo7NofawQKBgQDFRs2hyxXbusHh5cbZ
    UU6l+cq9IWHbIjZkf1r7CnJ/DM5/HGmaprouYaIeesuYPtZqtF8x4TFm2/qP7GmF
    EmXngUBtXlkjpcI7267/xLCaxthn89BvS1mHNwUSR8ujwbDyBXmkTY38HENBF1T5
    c/PUqp90l17wJ7GV3zlk0gRcuQKBgQDChjx5UdRT/peOQ9iBrnKn0463tkwFx8BS
    +RraexH2YdwZ5pt5l97+doKKoYg5MtcW/twm1PTwVbnFwtV/tpvo+NTgIwYBFOip
    P5/3pf/simu3yNyEPwqpmo6aSBPGBIWBxLrZlWKihZez3PQa4tpaZYajiDRID0tl
    qIrkFO4T/QKBgGJPyqJapuX9yClfbR1X263zMgnW3QFrp1el8B0zM6QFKdNGwYoE
    lLwQg85Uu6l/hzNd+CLPauMrtU6MLnnWlVotm4Hlht6w+H8EF832o1w+xBHp+3G7
    Rz6POMPHa8CMAjZabChpTdzZ6NpDWmGGW3kcHqLn3LQp0+IwgFWyI+JhAoGAWAql
    iEtvDG0oby1p6pfoMOlhqOiLU/pqo6M3cjdNk/QKyHZFXC1OsmE1CEXAABNwomnL
    fo/YJIbIRCfAtcMSocktoBx59Tdfbmrrngy13ntv8YiptflKfCUF8fI5cOBPBMLj
    xuMD94b7eF7C5QBTz6Iv5AgbkZnKiEJWSpDmiIkCgYEAvqPMej+o1CiYT6LafWNA
    IM2mWaMejpkKjCAt/vtwsAm1tBb4RHcN7jrvoWNzRhNhLGrumnPbVA5S2tihMVvB
    TMPPggyAuBG4QhlssmhehlXndoGG/CPHdgS8s2Dn9QUbn1lPdjJd4ls1XSjBRXE9
    4LaE5NuUwFB3ZTYiW7klZm8=
    -----END PRIVATE KEY-----
    """
}

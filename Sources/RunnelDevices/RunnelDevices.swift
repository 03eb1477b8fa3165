// A program with devices needs only `import RunnelDevices`, which re-exports `RunnelAccounts`.

@_exported public import RunnelAccounts

// A program with accounts needs only `import RunnelAccounts` beside `RunnelClient`; the actions are
// for `RunnelStore`, which `Runnel` re-exports.

@_exported public import RunnelClient

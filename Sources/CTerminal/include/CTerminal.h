int runnel_placeholder_terminal(void);

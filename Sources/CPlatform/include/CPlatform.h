int runnel_placeholder_platform(void);

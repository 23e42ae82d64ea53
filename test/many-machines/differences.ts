/** Files about the data directory of a service: its disk, its processes, its commands. */
export const withDataDirectory: readonly string[] = [];

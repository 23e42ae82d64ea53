/** How long replaced content may, in the cloud, still be read by requests that found it before, and be brought back with the table. */
export const cloudGrace = 24 * 60 * 60 * 1000;

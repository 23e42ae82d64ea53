/**
 * Returns a command under which root runs a program as another user, to be followed by the program. The user may read everything, so that
 * it does not matter who may read the folder of this clone, and write nothing but its own.
 */
export function asUser(id: number): readonly string[] {
  const ids = [`--reuid=${id}`, `--regid=${id}`, '--clear-groups'];
  return ['setpriv', ...ids, '--inh-caps=+dac_read_search', '--ambient-caps=+dac_read_search'];
}

/** What a test that hangs is reported as, by Vitest and by test/support/runs/patience.ts. */
const timeout = /^(?:Error: )?(?:Test|Hook) timed out in |^Nothing came for \d+ ms/m;
const dayInMilliseconds = 86_400_000;
const longestExcuse = 14;
const mostExcuses = 3;

/** Returns what is wrong with the list of tests that may fail once: nothing, or a line for each fault. */
export function faultsOf(flaky, strict, now) {
  const lines = flaky.length > mostExcuses ? [`${flaky.length} tests are listed as flaky; ${mostExcuses} may be`] : [];
  for (const { test, until } of flaky) {
    const left = (Date.parse(until) + dayInMilliseconds - now) / dayInMilliseconds;
    if (!(left > 0)) lines.push(`the excuse of ${test} has expired: ${until}`);
    else if (left > longestExcuse + 1)
      lines.push(`the excuse of ${test} ends more than ${longestExcuse} days ahead: ${until}`);
    if (strict.some((folder) => test.startsWith(folder))) lines.push(`${test} is about data, and may not be flaky`);
  }
  return lines;
}

/**
 * Judges tests that failed, after their files ran again alone: one that failed twice has failed. One that passed the second time is flaky
 * if it had timed out, or if it is listed; any other has failed.
 */
export function judge(first, second, { flaky, strict }) {
  const again = new Set(second.map(({ test }) => test));
  const excused = new Set(flaky.map(({ test }) => test));
  const isFlaky = ({ test, message }) => {
    if (again.has(test)) return false;
    if (timeout.test(message)) return true;
    return excused.has(test) && !strict.some((folder) => test.startsWith(folder));
  };
  const known = new Set(first.map(({ test }) => test));
  return {
    failed: [...first.filter((failure) => !isFlaky(failure)), ...second.filter(({ test }) => !known.has(test))],
    flaky: first.filter(isFlaky),
  };
}

/** Returns in what a whole gate differs from what is expected of it: a line for each file that skips more tests or fewer, and for tests that are gone. */
export function differences({ passed, skipped }, expected) {
  const lines = [];
  if (passed < expected.passed) lines.push(`${passed} tests passed, and ${expected.passed} should`);
  for (const file of new Set([...Object.keys(skipped), ...Object.keys(expected.skipped)])) {
    const [found, allowed] = [skipped[file] ?? 0, expected.skipped[file] ?? 0];
    if (found !== allowed) lines.push(`${found} tests of ${file} were skipped, and ${allowed} should be`);
  }
  return lines;
}

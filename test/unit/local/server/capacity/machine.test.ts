import { describe, expect, it } from 'vitest';
import { processorQuota } from '../../../../../local/server/capacity/machine.ts';

/** Returns the quota on a machine that has these files only. */
function quotaWith(files: Readonly<Record<string, string>>): number {
  return processorQuota((path) => {
    const content = files[path];
    if (content === undefined) throw new Error(`ENOENT: ${path}`);
    return content;
  });
}

describe('the processors that a control group may use', () => {
  it('are those of a container, rounded up', () => {
    const files = { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/cpu.max': '150000 100000\n' };
    expect(quotaWith(files)).toBe(2);
  });

  it('are those of a unit of systemd', () => {
    const files = {
      '/proc/self/cgroup': '0::/system.slice/stillage.service\n',
      '/sys/fs/cgroup/system.slice/stillage.service/cpu.max': '50000 100000\n',
    };
    expect(quotaWith(files)).toBe(1);
  });

  it.each([
    {},
    { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/cpu.max': 'max 100000\n' },
    { '/proc/self/cgroup': '12:cpu:/docker/0\n' },
    { '/proc/self/cgroup': '0::/a\n', '/sys/fs/cgroup/a/cpu.max': 'nonsense' },
  ])('are not limited by %o', (files) => {
    expect(quotaWith(files)).toBe(Infinity);
  });
});

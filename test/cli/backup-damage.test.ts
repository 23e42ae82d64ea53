import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { env, expectDone, restore, startBackedUp, type BackedUp } from '../support/backup/backed-up.ts';
import { PooledClient } from '../support/clients/pooled-client.ts';
import { maySmallDisk, noSmallDisk, unshare } from '../support/disks/small-disk.ts';
import { runProgram } from '../support/programs/program.ts';
import { run, skip } from '../support/programs/programs.ts';
import { startService } from '../support/programs/server.ts';
import { runWarm } from '../support/programs/warm-program.ts';

let backedUp: BackedUp;
let folder: BackedUp['folder'];
let service: BackedUp['service'];
let backup: BackedUp['backup'];
beforeAll(async () => {
  backedUp = await startBackedUp();
  ({ folder, service, backup } = backedUp);
  expectDone(await backup('create', join(folder, 'first')));
});
afterAll(() => backedUp.stop());

describe('stillage backup, where something is damaged or full', () => {
  it('lists, verifies, and adds nothing where nothing changed', async () => {
    const target = join(folder, 'listed');
    const first = JSON.parse((await backup('create', target, '--json')).stdout) as Record<string, number>;
    const second = JSON.parse((await backup('create', target, '--json')).stdout) as Record<string, number>;
    expect(second['added']!).toBeLessThan(first['added']! / 50);
    const listed = JSON.parse((await backup('list', target, '--json')).stdout) as unknown[];
    expect(listed).toEqual([first, second]);
    expect((await backup('list', target)).stdout).toMatch(/^BACKUP +TIME +ITEMS .*\n.* whole\n.* whole\n$/);
    const { code, stdout } = await backup('verify', target);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^checked 2 backups in \d+ packs, .* read: sound\n$/)]);
    expect(JSON.parse((await backup('verify', target, '--quick', '--json')).stdout)).toMatchObject({ findings: [] });
  });

  it('finds flipped bits, which restore refuses', async () => {
    const target = join(folder, 'flipped');
    expect((await backup('create', target)).code).toBe(0);
    const packs = (await readdir(join(target, 'packs'), { recursive: true })).filter((name) => name.length > 60);
    for (const pack of packs) {
      const path = join(target, 'packs', pack);
      const bytes = await readFile(path);
      bytes[bytes.length >> 1]! ^= 4;
      await writeFile(path, bytes);
    }
    const { code, stdout } = await backup('verify', target);
    expect(code).toBe(1);
    expect(
      stdout.match(/^damaged {2}pack [0-9a-f]{64}: its bytes are not those that were written; of 20/gm),
    ).toHaveLength(packs.length);
    const refused = await restore(target, join(folder, 'from-flipped'));
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/^stillage: the pack \w+ of the backup .* cannot be used/m),
    ]);
    // No service takes it for a data directory.
    const start = await runProgram(['start', '--port', '0', '--data', join(folder, 'from-flipped')]);
    expect([start.code, start.stderr]).toEqual([1, expect.stringContaining('no master.key')]);
  });

  it('says in one line that the target is full, and is resumed when it has room', async (context) => {
    if (!maySmallDisk) return skip(context, noSmallDisk);
    const target = join(folder, 'small');
    await mkdir(target);
    const stillage = '"$node" bin/stillage.cjs backup';
    const script = [
      'node="$0" target="$1" data="$2"',
      'mount -t tmpfs -o size=6m disk "$target"',
      `${stillage} create "$target" --data "$data"; echo "ended with $?" >&2`,
      'mount -o remount,size=200m "$target"',
      `${stillage} create "$target" --data "$data" && ${stillage} verify "$target"`,
    ];
    const args = [...unshare.slice(1), 'bash', '-c', script.join('\n'), process.execPath, target, service.data];
    const { stdout, stderr } = await run(unshare[0]!, args, { env, cwd: join(import.meta.dirname, '../..') });
    expect(stderr).toContain(`stillage: cannot write to ${target}: it is full\nended with 1\n`);
    expect(stdout).toMatch(/\nchecked 1 backup in .*: sound\n$/);
  });

  it('reports what is damaged in the data directory, and has all the rest', async () => {
    const data = join(folder, 'damaged');
    const damaged = await startService({ data });
    const own = new PooledClient(damaged);
    await own.send({ method: 'PUT', path: '/bucket' });
    for (const key of ['one', 'two']) {
      await own.send({ method: 'PUT', path: `/bucket/${key}`, body: Buffer.alloc(100_000, key) });
    }
    const files = (await readdir(join(data, 'blobs'), { recursive: true })).filter(
      (name) => name.length > 30 && !name.startsWith('store'),
    );
    expect(files).toHaveLength(2);
    const path = join(data, 'blobs', files[0]!);
    const bytes = await readFile(path);
    bytes[50_000]! ^= 1;
    await writeFile(path, bytes);
    const target = join(folder, 'of-damaged');
    await mkdir(target);
    const { code, stdout, stderr } = await runWarm(['backup', 'create', target, '--data', data], env);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^unread {2}blob \w.* has other bytes between /m)]);
    expect(stdout).toContain('1 thing damaged or missing in the data directory');
    expect((await backup('list', target)).stdout).toContain('1 thing could not be read');
    const others = await runWarm(['backup', 'create', join(folder, 'first'), '--data', data], env);
    expect([others.code, others.stderr]).toEqual([
      1,
      expect.stringContaining('has the backups of another data directory'),
    ]);
    own.close();
    await damaged.stop();
    const restored = await restore(target, join(folder, 'from-damaged'));
    expect([restored.code, restored.stdout]).toEqual([
      1,
      expect.stringContaining('1 thing could not be read when it was made'),
    ]);
  });
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  env,
  expectDone,
  part,
  passphrase,
  restore,
  startBackedUp,
  type BackedUp,
} from '../support/backup/backed-up.ts';
import { runProgram } from '../support/programs/program.ts';
import { startService } from '../support/programs/server.ts';
import { eventually, untilFound } from '../support/runs/eventually.ts';

let backedUp: BackedUp;
let folder: BackedUp['folder'];
let service: BackedUp['service'];
let backup: BackedUp['backup'];
let ok: BackedUp['ok'];
beforeAll(async () => {
  backedUp = await startBackedUp();
  ({ folder, service, backup, ok } = backedUp);
});
afterAll(() => backedUp.stop());

describe('stillage backup beside others', () => {
  it('two at once are both whole', async () => {
    const target = join(folder, 'both');
    await mkdir(target);
    const create = ['backup', 'create', target, '--data', service.data];
    const runs = await Promise.all([runProgram(create, { env }), runProgram(create, { env })]);
    runs.forEach(expectDone);
    expect(JSON.parse((await backup('verify', target, '--json')).stdout)).toMatchObject({ backups: 2, findings: [] });
    expect((await restore(target, join(folder, 'from-both'))).code).toBe(0);
  });

  it('prunes what nobody needs, and never beside a backup', async () => {
    const target = join(folder, 'pruned');
    await ok('PUT', '/brief');
    await ok('PUT', '/brief/large', '', part);
    expect((await backup('create', target)).code).toBe(0);
    await ok('DELETE', '/brief/large');
    await ok('DELETE', '/brief');
    expect((await backup('create', target)).code).toBe(0);
    const ids = (JSON.parse((await backup('list', target, '--json')).stdout) as { id: string }[]).map(({ id }) => id);
    const none = await backup('prune', target);
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('--keep-')]);
    const dry = await backup('prune', target, '--keep-last', '1', '--dry-run');
    expect(dry.stdout).toContain(`would remove  1 backup\n  ${ids[0]}`);

    const running = spawn(process.execPath, ['bin/stillage.cjs', 'backup', 'create', target, '--data', service.data], {
      cwd: join(import.meta.dirname, '../..'),
      env: { ...process.env, ...env },
      stdio: 'ignore',
    });
    const ended = once(running, 'exit');
    await untilFound(async () => (await readdir(join(target, 'locks'))).some((name) => name.startsWith('add-')));
    running.kill('SIGSTOP');
    const beside = await backup('prune', target, '--keep-last', '1');
    expect([beside.code, beside.stderr]).toEqual([1, expect.stringMatching(/^stillage: process \d+ on .* uses /)]);
    running.kill('SIGKILL');
    await ended;

    const { code, stdout } = await backup('prune', target, '--keep-daily', '7', '--json');
    expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ kept: [ids[1]], removed: [ids[0]] })]);
    expect((await backup('verify', target)).code).toBe(0);
    expect((await restore(target, join(folder, 'from-pruned'))).code).toBe(0);
  });

  it('is made on a schedule, and the log tells of it', async () => {
    const [data, target, file] = ['scheduled', 'of-scheduled', 'scheduled.key'].map((name) => join(folder, name));
    await mkdir(target!);
    await writeFile(file!, passphrase);
    const args = ['--backup-to', target!, '--backup-passphrase-file', file!, '--backup-every', '1h'];
    const scheduled = await startService({ data: data!, args });
    await eventually(() =>
      expect(scheduled.output.stdout).toMatch(/"message":"a backup was made","id":"20.*"unread":0/),
    );
    expect(await scheduled.stop()).toBe(0);
    expect(JSON.parse((await backup('list', target!, '--json')).stdout)).toHaveLength(1);
    await writeFile(file!, 'another');
    const failing = await startService({ data: data!, args });
    await eventually(() =>
      expect(failing.output.stdout).toMatch(/"level":"error".*"the backup failed".*the passphrase is not/),
    );
    expect(await failing.stop()).toBe(0);
  });
});

import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PooledClient } from '../support/clients/pooled-client.ts';
import { isInstalled } from '../support/programs/programs.ts';
import { startService, type Service } from '../support/programs/server.ts';
import { pacedPuts, put, type Latencies } from './paced-puts.ts';
import { usageOf } from './requests/process-usage.ts';
import { tableHead, tableRow } from './requests/report.ts';
import { ratio } from './requests/statistics.ts';

/** Options of {@link benchBackup}. */
export interface BackupBenchOptions {
  readonly objects: number;
  /** Of all objects together. */
  readonly bytes: number;
  /** How long PUT is measured without a backup. */
  readonly seconds: number;
  readonly json: boolean;
}

/** What a program took for a step: seconds, those of processor time, and the bytes by which its target grew. */
interface Taken {
  readonly seconds: number;
  readonly processor: number;
  readonly written: number;
}

/** A step of both programs; null: restic is not installed. */
interface Step {
  readonly step: string;
  readonly stillage: Taken;
  readonly restic: Taken | null;
}

const root = join(import.meta.dirname, '../..');
const environment = { STILLAGE_BACKUP_PASSPHRASE: 'bench', RESTIC_PASSWORD: 'bench' };
/** The share of objects that change before the incremental backup. */
const changedShare = 0.01;
/** Requests at the same time while objects are made. */
const together = 16;
/** The load under which a backup is made: far less than the service can do, so that its latency is not that of a queue. */
const load = { bucket: 'bench', perSecond: 100, size: 16 * 1024 } as const;
const sampleTime = 50;

/**
 * How long backups take, beside restic on the data directory with the service stopped, in turns over the same data: the first one, one after
 * a hundredth of the objects changed, and from the start of a restore to the first answer of a service. And how much longer PUT takes while a
 * backup runs. Objects have half to one and a half times their mean size, and cannot be compressed. Prints a table of Markdown, or JSON.
 */
export async function benchBackup(options: BackupBenchOptions): Promise<void> {
  const interrupted = new AbortController();
  const interrupt = (): void => interrupted.abort();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, interrupt);
  const folder = await mkdtemp(join(tmpdir(), 'stillage-bench-'));
  const bench = new BackupBench(folder, options, interrupted.signal);
  try {
    await bench.run();
  } catch (error) {
    if (!interrupted.signal.aborted) throw error;
    console.error('interrupted');
    process.exitCode = 130;
  } finally {
    await bench.end();
    await rm(folder, { recursive: true, force: true });
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, interrupt);
  }
}

class BackupBench {
  readonly #folder: string;
  readonly #data: string;
  readonly #options: BackupBenchOptions;
  readonly #signal: AbortSignal;
  readonly #withRestic = isInstalled('restic', ['version']);
  readonly #services = new Set<Service>();
  readonly #steps: Step[] = [];
  /** The digest of the object by which restored data is checked. */
  #digest = '';

  constructor(folder: string, options: BackupBenchOptions, signal: AbortSignal) {
    this.#folder = folder;
    this.#data = join(folder, 'data');
    this.#options = options;
    this.#signal = signal;
  }

  async run(): Promise<void> {
    const { json, objects, bytes } = this.#options;
    if (!this.#withRestic) console.error('restic is not on PATH: nothing to compare with (apt-get install restic)');
    const [target, restic] = [join(this.#folder, 'backups'), join(this.#folder, 'restic')];
    await mkdir(target);
    if (!json) {
      console.log(`${objects.toLocaleString('en-GB')} objects, ${sizeOf(bytes)}\n`);
      console.log(tableHead(['step', 'Stillage', 'restic, the service stopped', 'Stillage / restic']));
    }

    let service = await this.#start(this.#data);
    await this.#fill(service, objects);
    if (this.#withRestic) await this.#command('restic', ['-q', 'init', '-r', restic], restic);
    for (const step of ['first backup', 'incremental backup']) {
      if (step !== 'first backup') await this.#fill(service, Math.ceil(objects * changedShare));
      const stillage = await this.#backUp(target);
      await this.#stop(service);
      const args = ['-q', 'backup', '-r', restic, this.#data];
      this.#tell({ step, stillage, restic: this.#withRestic ? await this.#command('restic', args, restic) : null });
      service = await this.#start(this.#data);
    }
    await this.#stop(service);

    const [own, others] = [join(this.#folder, 'restored'), join(this.#folder, 'restored-by-restic')];
    const stillage = await this.#answered(own, own, () => this.#stillage(['restore', target, '--data', own], own));
    const args = ['-q', 'restore', 'latest', '-r', restic, '--target', others];
    const restored = (): Promise<Taken> => this.#command('restic', args, others);
    this.#tell({
      step: 'restore to the first answer',
      stillage,
      restic: this.#withRestic ? await this.#answered(join(others, this.#data), others, restored) : null,
    });

    service = await this.#start(this.#data);
    const client = new PooledClient(service);
    const puts = (meanwhile: Promise<unknown>): Promise<Latencies> => pacedPuts(client, load, meanwhile);
    const alone = await puts(sleep(this.#options.seconds * 1000, undefined, { signal: this.#signal }));
    const second = join(this.#folder, 'second');
    await mkdir(second);
    const during = await puts(this.#backUp(second)).finally(() => client.close());
    const slower = ratio(during.p99, alone.p99);
    if (json) {
      const { perSecond: requestsPerSecond, size } = load;
      const put = { requestsPerSecond, size, alone, during, slower };
      const found = { objects, bytes, steps: this.#steps, put };
      console.log(JSON.stringify(found, undefined, 2));
      return;
    }
    const shown = ({ p50, p99, requests }: Latencies): string =>
      `${p50.toFixed(1)} / ${p99.toFixed(1)} ms (${requests.toLocaleString('en-GB')} requests)`;
    console.log(
      `\nPUT of ${load.size / 1024} KiB, ${load.perSecond} /s, p50 / p99: alone ${shown(alone)}, during a first backup ${shown(during)}: p99 ${slower?.toFixed(2)} times`,
    );
  }

  /** Stops all services that run. */
  async end(): Promise<void> {
    for (const service of this.#services) await service.kill();
  }

  async #start(data: string): Promise<Service> {
    this.#signal.throwIfAborted();
    const service = await startService({ data });
    this.#services.add(service);
    return service;
  }

  async #stop(service: Service): Promise<void> {
    await service.stop();
    this.#services.delete(service);
  }

  /** Puts the first objects, with new content. */
  async #fill(service: Service, objects: number): Promise<void> {
    const mean = this.#options.bytes / this.#options.objects;
    const client = new PooledClient(service);
    try {
      await client.send({ method: 'PUT', path: '/bench' });
      let next = 0;
      const work = async (): Promise<void> => {
        for (let at = next++; at < objects; at = next++) {
          this.#signal.throwIfAborted();
          const body = randomBytes(Math.round(mean * sizeFactor(at)));
          if (at === 0) this.#digest = createHash('sha256').update(body).digest('hex');
          await put(client, `/bench/${at}`, body);
        }
      };
      await Promise.all(Array.from({ length: together }, work));
    } finally {
      client.close();
    }
  }

  #backUp(target: string): Promise<Taken> {
    return this.#stillage(['backup', 'create', target, '--data', this.#data], target);
  }

  #stillage(args: readonly string[], target: string): Promise<Taken> {
    return this.#command(process.execPath, ['bin/stillage.cjs', ...args], target);
  }

  /** Runs a command. @param target a directory whose growth is counted */
  async #command(program: string, args: readonly string[], target: string): Promise<Taken> {
    this.#signal.throwIfAborted();
    const before = await bytesIn(target);
    const began = performance.now();
    const child = spawn(program, args, {
      cwd: root,
      env: { ...process.env, ...environment, RESTIC_CACHE_DIR: join(this.#folder, 'cache') },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const kill = (): void => void child.kill('SIGKILL');
    this.#signal.addEventListener('abort', kill);
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr = (stderr + text).slice(-1000)));
    let processor = 0;
    const sampler = setInterval(() => (processor = usageOf([child.pid!])?.processor ?? processor), sampleTime);
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject).once('close', resolve);
    }).finally(() => {
      clearInterval(sampler);
      this.#signal.removeEventListener('abort', kill);
    });
    const seconds = (performance.now() - began) / 1000;
    this.#signal.throwIfAborted();
    if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}: ${stderr}`);
    return { seconds, processor: processor / 1000, written: (await bytesIn(target)) - before };
  }

  /** Restores, starts a service, and reads an object. @param folder what is restored into */
  async #answered(data: string, folder: string, restored: () => Promise<Taken>): Promise<Taken> {
    const { processor, written, seconds } = await restored();
    const began = performance.now();
    const service = await this.#start(data);
    const client = new PooledClient(service);
    const { status, body } = await client.send({ path: '/bench/0' });
    const answered = (performance.now() - began) / 1000;
    client.close();
    await this.#stop(service);
    if (status !== 200 || createHash('sha256').update(body).digest('hex') !== this.#digest) {
      throw new Error(`the restored service answers ${status}, or another object`);
    }
    await rm(folder, { recursive: true });
    return { processor, written, seconds: seconds + answered };
  }

  #tell(step: Step): void {
    this.#steps.push(step);
    if (this.#options.json) return;
    const { stillage, restic } = step;
    const slower = ratio(stillage.seconds, restic?.seconds)?.toFixed(2) ?? '';
    console.log(tableRow([step.step, shownTaken(stillage), restic === null ? '' : shownTaken(restic), slower]));
  }
}

/** Returns from 0.5 to 1.5, for each two numbers 2 together, so that few objects have their mean size as well. */
function sizeFactor(at: number): number {
  const spread = (((at >> 1) * 37) % 101) / 100;
  return at % 2 === 0 ? 0.5 + spread : 1.5 - spread;
}

function shownTaken({ seconds, processor, written }: Taken): string {
  return `${seconds.toFixed(1)} s, ${processor.toFixed(1)} s of processor time, ${sizeOf(written)} written`;
}

function sizeOf(bytes: number): string {
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}

/** Returns the sizes of all files in a directory, together; 0 if it does not exist. */
async function bytesIn(directory: string): Promise<number> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => []);
  let bytes = 0;
  for (const entry of entries) if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size;
  return bytes;
}

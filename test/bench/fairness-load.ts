import { alice } from '../support/server.ts';
import { running, type Contestant } from './contestants.ts';
import { each } from './works.ts';

/*
 * The callers that load a service while fairness.ts measures it, in a process of their own. Arguments: the URL of the service, the
 * milliseconds to load it, and the loads. Prints how many requests they made.
 */

/** What callers do again and again, by the name of the load. */
export const loads: Readonly<
  Record<string, { readonly callers: number; act(server: Contestant, at: number): unknown }>
> = {
  plain: {
    callers: 32,
    act: (server, at) => list(server, `list-type=2&start-after=${folderOf(at * 7)}`),
  },
  delimiter: { callers: 32, act: (server) => list(server, 'delimiter=%2F&list-type=2') },
  versions: {
    callers: 32,
    act: (server, at) => list(server, `key-marker=${folderOf(at * 7)}&versions=`),
  },
  lists: {
    callers: 32,
    act: (server, at) => loads[['plain', 'delimiter', 'versions'][at % 3]!]!.act(server, at),
  },
  uploads: {
    callers: 8,
    act: (server, at) => server.send({ method: 'PUT', path: `${filled}/large${at % 8}`, body: large }),
  },
  deletes: {
    callers: 8,
    act: (server, at) => {
      const keys = Array.from(
        { length: batch },
        (_, index) => `<Object><Key>${doomed(at * batch + index)}</Key></Object>`,
      );
      const body = `<Delete><Quiet>true</Quiet>${keys.join('')}</Delete>`;
      return server.send({ method: 'POST', path: filled, query: 'delete=', body });
    },
  },
};

/** The bucket that is listed, its folders of keys, and the keys to delete. */
export const filled = '/fairness';
export const folders = 100;
export const batch = 1000;
export const folderOf = (at: number): string => String(at % folders).padStart(2, '0');
export const doomed = (at: number): string => `doomed/${String(at).padStart(9, '0')}`;

const large = new Uint8Array(64 * 2 ** 20);

function list(server: Contestant, query: string): Promise<string> {
  return server.send({ method: 'GET', path: filled, query });
}

if (process.argv[1] === import.meta.filename) {
  const [url, milliseconds, ...names] = process.argv.slice(2);
  const server = running(url!, alice, []);
  const until = performance.now() + Number(milliseconds);
  const made = await Promise.all(
    names.map(async (name) => {
      const load = loads[name]!;
      let count = 0;
      await each(load.callers, load.callers, async () => {
        while (performance.now() < until) await load.act(server, count++);
      });
      return `${count} ${name}`;
    }),
  );
  console.log(made.join(', '));
  await server.stop();
  server.reconnect();
}

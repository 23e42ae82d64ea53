import type { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { Connections, type Place } from '../../../../../local/server/processes/connections.ts';

const socket = undefined as unknown as Socket;

/** Processes with this maximum number of connections each, by their weights; `served` is the order in which they were given connections. */
function processes(most: number, ...weights: readonly number[]) {
  const connections = new Connections(most);
  const served: number[] = [];
  const places = weights.map((weight, at): Place => ({ weight, serve: () => void served.push(at) }));
  places.forEach((place) => connections.add(place));
  const distribute = (count: number): number[] => {
    served.length = 0;
    for (let n = 0; n < count; n += 1) connections.distribute(socket);
    return [...served];
  };
  return { connections, places, distribute };
}

it('hands the first connection to the first process, also after others were closed', () => {
  const { connections, places, distribute } = processes(100, 2, 1);
  for (let count = 0; count < 3; count += 1) {
    expect(distribute(1)).toEqual([0]);
    connections.closed(places[0]!);
  }
});

it('hands each connection to the process that has the fewest, where those of the first count more', () => {
  const { distribute } = processes(100, 2, 1);
  expect(distribute(9)).toEqual([0, 1, 1, 0, 1, 1, 0, 1, 1]);
  const three = processes(100, 4, 1, 1);
  expect(three.distribute(9).filter((at) => at === 0)).toHaveLength(1);
});

it('hands what a full process may not have to the others', () => {
  const { distribute } = processes(4, 2, 1);
  const served = distribute(8);
  expect(served.filter((at) => at === 0)).toHaveLength(4);
  expect(served.filter((at) => at === 1)).toHaveLength(4);
  // Each makes room by itself.
  expect(distribute(3)).toContain(0);
});

it('hands nothing to a process that has ended, and more to its successor', () => {
  const { connections, places, distribute } = processes(100, 2, 1);
  distribute(6);
  connections.remove(places[1]!);
  connections.closed(places[1]!);
  expect(distribute(2)).toEqual([0, 0]);
  connections.add(places[1]!);
  expect(distribute(4)).toEqual([1, 1, 1, 1]);
});

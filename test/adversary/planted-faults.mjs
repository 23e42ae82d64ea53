// For --import: gives the service the fault that PLANTED_FAULT names.
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { Server } from 'node:http';
import { join } from 'node:path';

const fault = process.env.PLANTED_FAULT;
const data = process.argv[process.argv.indexOf('--data') + 1];
const kept = [];
const served = new WeakSet();
const { emit } = Server.prototype;

Server.prototype.emit = function (name, ...values) {
  if (name === 'connection' && fault === 'memory') {
    values[0].on('error', () => kept.push(Buffer.alloc(32 * 1024 * 1024, 1)));
  }
  if (name === 'request') {
    const [{ socket, method }] = values;
    // Not those by which the adversary learns how fast the machine is.
    if (fault === 'processor' && method === 'GET' && served.has(socket)) burn(5);
    served.add(socket);
    if (fault === 'disk' && method === 'DELETE') writeFileSync(join(data, randomUUID()), Buffer.alloc(131_072, 1));
  }
  return emit.call(this, name, ...values);
};

function burn(milliseconds) {
  const end = Date.now() + milliseconds;
  while (Date.now() < end);
}

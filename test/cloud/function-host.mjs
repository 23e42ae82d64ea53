// As much of Lambda as a function can see: loads the bundle it is told to, and hands it one event after the other.
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import process from 'node:process';
import tls from 'node:tls';

if (process.env.STAND_INS) standIn(JSON.parse(process.env.STAND_INS));

const { handler } = await import(process.argv[2]);

const now = Date.now;

process.on('message', ({ id, event, later, remaining }) => {
  const context = { getRemainingTimeInMillis: () => remaining, awsRequestId: `invocation-${id}` };
  Date.now = () => now() + later;
  handler(event, context).then(
    (result) => process.send({ id, result }),
    (error) => process.send({ id, error: String(error.stack ?? error) }),
  );
});
process.send('ready');

/** Gives names their addresses, and puts a port of this machine in the place of each public one. */
function standIn({ names, ports }) {
  const lookUp = dns.lookup;
  dns.lookup = (name, options, found) => {
    const address = names[name];
    if (address === undefined) lookUp(name, options, found);
    else if (options.all) found(null, [{ address, family: 4 }]);
    else found(null, address, 4);
  };
  const connect = tls.connect;
  tls.connect = (options, ...rest) => {
    let address;
    // The address that was checked, which need not be what the name stands for by now.
    options.lookup?.(options.host, { all: true }, (_, found) => (address = found[0].address));
    const port = ports[address];
    return connect(port ? { ...options, host: '127.0.0.1', port, lookup: undefined } : options, ...rest);
  };
  syncBuiltinESMExports();
}

// As much of Lambda as a function can see: loads the bundle it is told to, and hands it one event after the other.
import process from 'node:process';

const { handler } = await import(process.argv[2]);

const now = Date.now;

process.on('message', ({ id, event, later, remaining }) => {
  const context = { getRemainingTimeInMillis: () => remaining };
  Date.now = () => now() + later;
  handler(event, context).then(
    (result) => process.send({ id, result }),
    (error) => process.send({ id, error: String(error.stack ?? error) }),
  );
});
process.send('ready');

// As much of Lambda as a function can see: loads the bundle it is told to, and hands it one event after the other.
import process from 'node:process';

const { handler } = await import(process.argv[2]);

process.on('message', ({ id, event }) => {
  handler(event).then(
    (result) => process.send({ id, result }),
    (error) => process.send({ id, error: String(error.stack ?? error) }),
  );
});
process.send('ready');

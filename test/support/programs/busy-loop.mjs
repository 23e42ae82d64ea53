// For --import: SIGUSR2 keeps this process busy for as many milliseconds as BUSY_LOOP says, so that it handles nothing else meanwhile.
process.on('SIGUSR2', () => {
  const end = Date.now() + Number(process.env.BUSY_LOOP);
  while (Date.now() < end);
});

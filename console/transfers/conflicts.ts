import { isFailure } from '../s3/failure.ts';
import { numbered } from '../format/names.ts';

/** The user's choice for names that exist already. */
export type Choice = 'replace' | 'skip' | 'both';

/** Asks somebody. Nothing: stop. */
export type Ask = (key: string) => Promise<Choice | undefined>;

/** Asked about names that exist once for each job, however many there are. */
export class Conflicts {
  private readonly ask: Ask;
  private choice: Promise<Choice | undefined> | undefined;

  constructor(ask: Ask) {
    this.ask = ask;
  }

  /**
   * Writes to a name, only if nothing has it; and if something has, as is chosen. The service checks and writes at once, so that a
   * name taken meanwhile is not overwritten.
   */
  async write(key: string, write: (key: string, ifAbsent: boolean) => Promise<void>): Promise<void> {
    try {
      await write(key, true);
    } catch (error) {
      if (!isFailure(error, 'PreconditionFailed')) throw error;
      const choice = await (this.choice ??= this.ask(key));
      if (choice === 'replace') await write(key, false);
      else if (choice === 'both') await this.writeBeside(key, write);
    }
  }

  private async writeBeside(key: string, write: (key: string, ifAbsent: boolean) => Promise<void>): Promise<void> {
    for (let number = 2; ; number++) {
      try {
        return await write(numbered(key, number), true);
      } catch (error) {
        if (!isFailure(error, 'PreconditionFailed') || number > 100) throw error;
      }
    }
  }
}

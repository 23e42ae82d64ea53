import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that take half a minute or more, and that are small. Vitest knows durations from earlier runs only; in a fresh clone it starts large
 * files first, and would start these when nothing else is left that could use the other processors.
 */
export const longest = [
  'recipes/proxied-clients',
  'power-loss/power-loss',
  'bench/bench',
  'clients/s3cmd',
  'model/one-key',
  'console/every-view',
  'infra/lint',
  'model/hostile-tenant',
  'resources/handles',
  'linearizability/cloud',
  'contract/cloud',
].map((name) => `test/${name}.test.ts`);

/** Starts the longest files first, and the others in the order that Vitest gives them. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const place = ({ moduleId }: TestSpecification): number => {
      const at = longest.indexOf(relative(this.ctx.config.root, moduleId));
      return at === -1 ? longest.length : at;
    };
    const group = ({ project }: TestSpecification): number => project.config.sequence.groupOrder;
    return sorted.toSorted((a, b) => group(a) - group(b) || place(a) - place(b));
  }
}

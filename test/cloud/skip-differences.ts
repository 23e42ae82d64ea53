import { skipDifferences } from '../support/runs/skip-differences.ts';
import { differences } from './differences.ts';

skipDifferences(differences);

import type { Settings } from './settings.ts';

/** Functions of the API share one log, so that one place has all their requests. */
export function apiLogName(stage: string): string {
  return `/stillage/${stage}/api`;
}

export function byteLaneLogName(stage: string): string {
  return `/stillage/${stage}/byte-lane`;
}

/** The log groups that have a line for every request: what the bill is made of. */
export function requestLogNames({ stage, byteLane }: Pick<Settings, 'stage' | 'byteLane'>): readonly string[] {
  return [apiLogName(stage), ...(byteLane === 'fargate' ? [byteLaneLogName(stage)] : [])];
}

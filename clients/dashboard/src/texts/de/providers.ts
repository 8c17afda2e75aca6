import type { Texts } from '../en.ts';

export const providers: Texts['providers'] = {
  title: 'Anbieter',
  description: 'Dienste mit Sprachmodellen, mit denen Prompts laufen. Jeder wird über Umgebungsvariablen konfiguriert.',
  count: (configured, all) => `${configured} von ${all} konfiguriert`,
  configured: 'Konfiguriert',
  notConfigured: 'Nicht konfiguriert',
  available: 'Einsatzbereit',
  others: 'Noch nicht konfiguriert',
  id: 'ID',
  defaultModel: 'Standardmodell',
  models: 'Modelle',
  settings: 'Umgebungsvariablen',
  set: 'Gesetzt',
  required: 'Erforderlich',
  optional: 'Optional',
  noSettings: 'Braucht keine Einstellungen. Antwortet mit dem Text, den er erhält; gut zum Ausprobieren von Prompts.',
  snippet: (name) => `.env-Zeilen für ${name}`,
  snippetText: 'Kopieren Sie diese Zeilen in .env und füllen Sie die Werte aus.',
  optionalComment: (description) => `Optional. ${description}`,
  restart: {
    title: 'Der Dienst liest diese Variablen beim Start',
    text: 'Schreiben Sie sie in die Datei .env in seinem Ordner oder in die Umgebung jedes seiner Prozesse und starten Sie ihn neu. Werte werden hier nie gezeigt.',
  },
  compatible: {
    title: 'Andere Server',
    text: 'Jeder Server mit der Chat-Completions-API von OpenAI, zum Beispiel Ollama oder vLLM, wird mit OPENAI_COMPATIBLE_PROVIDERS zu einem Anbieter. Ändern Sie dieses Beispiel:',
    label: '.env-Zeile für andere Server',
  },
};

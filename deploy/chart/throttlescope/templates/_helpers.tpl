{{/* Names, labels and what all pods share. */}}

{{- define "throttlescope.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "throttlescope.selector" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "throttlescope.labels" -}}
{{ include "throttlescope.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "throttlescope.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "throttlescope.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "throttlescope.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{- define "throttlescope.onVolume" -}}
{{- if eq .Values.lake.kind "persistentVolume" -}}true{{- end -}}
{{- end -}}

{{- define "throttlescope.claim" -}}
{{- default (printf "%s-lake" (include "throttlescope.fullname" .)) .Values.lake.persistentVolume.existingClaim -}}
{{- end -}}

{{- define "throttlescope.secretFiles" -}}
{{- if .Values.secrets.existingSecret -}}
{{- .Values.secrets.existingSecret -}}
{{- else if .Values.secrets.values -}}
{{- include "throttlescope.fullname" . -}}-files
{{- end -}}
{{- end -}}

{{/* throttlescope.toml. The lake is not a free value: it has to be where the volumes are. */}}
{{- define "throttlescope.config" -}}
{{- $lake := ternary "/var/lib/throttlescope/lake" .Values.lake.objectStore.address (eq .Values.lake.kind "persistentVolume") -}}
{{- merge (dict "lake" $lake) .Values.config | toToml -}}
{{- end -}}

{{- define "throttlescope.podLabels" -}}
{{ include "throttlescope.selector" . }}
{{- if include "throttlescope.onVolume" . }}
throttlescope/lake: {{ include "throttlescope.claim" . | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- with .Values.podLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "throttlescope.podAnnotations" -}}
checksum/config: {{ include "throttlescope.config" . | sha256sum }}
{{- if .Values.secrets.values }}
checksum/secrets: {{ .Values.secrets.values | toJson | sha256sum }}
{{- end }}
{{- with .Values.podAnnotations }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The pod's part that server, follower and jobs share. In: the chart's context, `container` (name, args, resources, ...), `before`
(names and args of containers that run first). */}}
{{- define "throttlescope.podSpec" -}}
{{- $root := .root -}}
serviceAccountName: {{ include "throttlescope.serviceAccountName" $root }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with $root.Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $root.Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
securityContext:
  {{- mergeOverwrite (dict
      "runAsNonRoot" true
      "runAsUser" 10001
      "runAsGroup" 10001
      "fsGroup" 10001
      "fsGroupChangePolicy" "OnRootMismatch"
      "seccompProfile" (dict "type" "RuntimeDefault")) $root.Values.podSecurityContext | toYaml | nindent 2 }}
{{- with $root.Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $root.Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with include "throttlescope.affinity" $root }}
affinity: {{- . | nindent 2 }}
{{- end }}
initContainers:
  # The compiled functions that the image holds; without them the first answers of a pod wait for a compiler.
  - name: cache
    image: {{ include "throttlescope.image" $root }}
    imagePullPolicy: {{ $root.Values.image.pullPolicy }}
    command: [cp, -R, /var/cache/throttlescope/., /cache/]
    resources:
      requests: {cpu: 50m, memory: 32Mi}
      limits: {memory: 256Mi}
    securityContext: {{- include "throttlescope.containerSecurity" $root | nindent 6 }}
    volumeMounts:
      - {name: cache, mountPath: /cache}
  {{- range .before }}
  - {{- include "throttlescope.container" (dict "root" $root "container" .) | nindent 4 }}
  {{- end }}
containers:
  - {{- include "throttlescope.container" (dict "root" $root "container" .container) | nindent 4 }}
volumes:
  - name: config
    configMap: {name: {{ include "throttlescope.fullname" $root }}}
  - name: cache
    emptyDir: {sizeLimit: 1Gi}
  - name: scratch
    emptyDir: {sizeLimit: {{ $root.Values.scratch.sizeLimit }}}
  {{- if include "throttlescope.onVolume" $root }}
  - name: lake
    persistentVolumeClaim: {claimName: {{ include "throttlescope.claim" $root }}}
  {{- end }}
  {{- with include "throttlescope.secretFiles" $root }}
  - name: secrets
    secret: {secretName: {{ . }}, defaultMode: 0440}
  {{- end }}
  {{- with .volumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* A claim that one node mounts: every pod of the release goes to the node of the others, the first one anywhere. */}}
{{- define "throttlescope.affinity" -}}
{{- $affinity := deepCopy .Values.affinity -}}
{{- if and (include "throttlescope.onVolume" .) (eq .Values.lake.persistentVolume.accessMode "ReadWriteOnce") -}}
{{- $label := dict "throttlescope/lake" (include "throttlescope.claim" . | trunc 63 | trimSuffix "-") -}}
{{- $term := dict "labelSelector" (dict "matchLabels" $label) "topologyKey" "kubernetes.io/hostname" -}}
{{- $affinity = mergeOverwrite $affinity (dict "podAffinity" (dict "requiredDuringSchedulingIgnoredDuringExecution" (list $term))) -}}
{{- end -}}
{{- with $affinity -}}{{- toYaml . -}}{{- end -}}
{{- end -}}

{{- define "throttlescope.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}

{{- define "throttlescope.container" -}}
{{- $root := .root -}}
name: {{ .container.name }}
image: {{ include "throttlescope.image" $root }}
imagePullPolicy: {{ $root.Values.image.pullPolicy }}
args: {{- toYaml .container.args | nindent 2 }}
env:
  - {name: THROTTLESCOPE_CONFIG, value: /etc/throttlescope/throttlescope.toml}
  - {name: THROTTLESCOPE_LOG_FORMAT, value: json}
  {{- if eq $root.Values.lake.kind "objectStore" }}
  {{- with $root.Values.lake.objectStore }}
  {{- with .endpoint }}
  - {name: AWS_ENDPOINT_URL, value: {{ . | quote }}}
  {{- end }}
  {{- with .region }}
  - {name: AWS_REGION, value: {{ . | quote }}}
  {{- end }}
  {{- if .allowHttp }}
  - {name: AWS_ALLOW_HTTP, value: "true"}
  {{- end }}
  {{- with .credentialsSecret }}
  - name: AWS_ACCESS_KEY_ID
    valueFrom: {secretKeyRef: {name: {{ . }}, key: AWS_ACCESS_KEY_ID}}
  - name: AWS_SECRET_ACCESS_KEY
    valueFrom: {secretKeyRef: {name: {{ . }}, key: AWS_SECRET_ACCESS_KEY}}
  - name: AWS_SESSION_TOKEN
    valueFrom: {secretKeyRef: {name: {{ . }}, key: AWS_SESSION_TOKEN, optional: true}}
  {{- end }}
  {{- end }}
  {{- end }}
{{- with $root.Values.envFrom }}
envFrom: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .container.ports }}
ports: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .container.probes }}
{{ toYaml . }}
{{- end }}
resources: {{- toYaml .container.resources | nindent 2 }}
securityContext: {{- include "throttlescope.containerSecurity" $root | nindent 2 }}
volumeMounts:
  - {name: config, mountPath: /etc/throttlescope, readOnly: true}
  - {name: cache, mountPath: /var/cache/throttlescope}
  - {name: scratch, mountPath: /tmp}
  {{- if include "throttlescope.onVolume" $root }}
  - {name: lake, mountPath: /var/lib/throttlescope{{ if .container.readsOnly }}, readOnly: true{{ end }}}
  {{- end }}
  {{- if include "throttlescope.secretFiles" $root }}
  - {name: secrets, mountPath: /run/secrets/throttlescope, readOnly: true}
  {{- end }}
  {{- with .container.mounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* A scheduled job. In: the chart's context, `name`, `schedule`, `deadline`, `container`, `before`. An exit code of 2 (usage, input) or
3 (a gate, late data) stays the same when the job is repeated: it is not. */}}
{{- define "throttlescope.cronJob" -}}
{{- $root := .root -}}
{{- $names := list .container.name -}}
{{- range .before }}{{ $names = append $names .name }}{{ end -}}
apiVersion: batch/v1
kind: CronJob
metadata:
  name: {{ include "throttlescope.fullname" $root }}-{{ .name }}
  labels: {{- include "throttlescope.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .name }}
spec:
  schedule: {{ .schedule | quote }}
  concurrencyPolicy: Forbid
  startingDeadlineSeconds: 600
  successfulJobsHistoryLimit: 2
  failedJobsHistoryLimit: 3
  jobTemplate:
    spec:
      backoffLimit: 2
      activeDeadlineSeconds: {{ .deadline }}
      podFailurePolicy:
        rules:
          {{- range $names }}
          - action: FailJob
            onExitCodes: {containerName: {{ . }}, operator: In, values: [2, 3]}
          {{- end }}
      template:
        metadata:
          labels: {{- include "throttlescope.podLabels" $root | nindent 12 }}
            app.kubernetes.io/component: {{ .name }}
          {{- with $root.Values.podAnnotations }}
          annotations: {{- toYaml . | nindent 12 }}
          {{- end }}
        spec:
          restartPolicy: Never
          {{- include "throttlescope.podSpec" . | nindent 10 }}
{{- end -}}
